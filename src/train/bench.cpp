#include "train/bench.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "core/allocations.h"
#include "core/arena.h"
#include "core/parallel.h"
#include "kernels/matmul.h"
#include "train/timing.h"

namespace headroom {
namespace {

using Clock = std::chrono::steady_clock;
using kernels::MatmulCall;
using kernels::Transpose;

template <class F>
double seconds_of(const F& f) {
  const Clock::time_point start = Clock::now();
  f();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The calls of one step, run again on operands of each worker's own; those that products lay out
// first are laid out once for each shape, before.
class Products {
 public:
  explicit Products(std::vector<MatmulCall> calls) : calls_(std::move(calls)) {
    std::size_t largest = 0;
    for (const MatmulCall& c : calls_) {
      largest = std::max({largest, c.m * c.k, c.k * c.n, c.m * c.n});
      flops_ += c.flops();
    }
    const std::size_t workers = static_cast<std::size_t>(threads());
    memory_ = Arena<float>(workers * 3 * (largest + 16));
    operands_ = memory_.take(workers, 3, largest);
    std::fill_n(operands_.data, operands_.size(), 1e-3f);
    for (const MatmulCall& c : calls_) {
      const std::tuple shape(c.m, c.n, c.k, c.ta, c.tb);
      if (kernels::layout_floats(1, 1) > 0 && !laid_out_.contains(shape))
        laid_out_.emplace(shape, LaidOut(c, operands_[0]));
    }
  }
  double flops() const { return flops_; }
  void run() const {
    parallel_for(calls_.size(), [&](std::size_t i) {
      const MatmulCall& c = calls_[i];
      const View<float, 2> mine = operands_[worker()];
      const auto matrix = [&](std::size_t which, std::size_t rows, std::size_t cols) {
        return Matrix<float>(mine[which].data, rows, cols, cols);
      };
      const Matrix<float> to = matrix(0, c.m, c.n);
      if (const auto at = laid_out_.find({c.m, c.n, c.k, c.ta, c.tb}); at != laid_out_.end()) {
        kernels::multiply(to, at->second.left, at->second.right, 0.0f);
      } else {
        const bool ta = c.ta == Transpose::kYes, tb = c.tb == Transpose::kYes;
        kernels::matmul(to, matrix(1, ta ? c.k : c.m, ta ? c.m : c.k), c.ta,
                        matrix(2, tb ? c.n : c.k, tb ? c.k : c.n), c.tb, 1.0f, 0.0f);
      }
    });
  }

 private:
  // Both operands of a call.
  struct LaidOut {
    Arena<float> memory;
    kernels::Operand left, right;

    LaidOut(const MatmulCall& c, View<const float, 2> values)
        : memory(kernels::layout_floats(c.m, c.k) + kernels::layout_floats(c.k, c.n)) {
      float* next = memory.take(memory.capacity()).data;
      const auto operand = [&](kernels::Side side, std::size_t rows, std::size_t cols,
                               Transpose t) {
        if (t == Transpose::kYes) std::swap(rows, cols);
        return kernels::lay_out(next, side, {values.data, rows, cols, cols}, t);
      };
      left = operand(kernels::Side::kLeft, c.m, c.k, c.ta);
      right = operand(kernels::Side::kRight, c.k, c.n, c.tb);
    }
  };

  std::vector<MatmulCall> calls_;
  double flops_ = 0;
  Arena<float> memory_;
  View<float, 3> operands_;  // (workers, 3, largest)
  std::map<std::tuple<std::size_t, std::size_t, std::size_t, Transpose, Transpose>, LaidOut>
      laid_out_;
};

}  // namespace

BenchResult bench_steps(const TaskConfig& task, const ModelConfig& model, const TrainConfig& config,
                        std::uint64_t steps, std::uint64_t warmup) {
  TrainingStep step(task, model, config);
  std::uint64_t t = 0;
  while (t < warmup) step.run(++t);
  std::vector<MatmulCall> calls;
  kernels::record_matmuls(&calls);
  step.run(++t);
  kernels::record_matmuls(nullptr);
  const Products products(std::move(calls));
  products.run();

  BenchResult result;
  std::vector<double> step_times, product_times;
  step_times.reserve(steps);
  product_times.reserve(steps);
  std::uint64_t n_allocations = 0;
  const std::size_t primitives = kernels::primitives_made();
  for (std::uint64_t i = 0; i < steps; ++i) {
    const std::optional<std::uint64_t> before = allocations();
    phase_seconds = &result.phases;
    step_times.push_back(seconds_of([&] { step.run(++t); }));
    phase_seconds = nullptr;
    if (before) n_allocations += *allocations() - *before;
    product_times.push_back(seconds_of([&] { products.run(); }));
  }
  const double n = static_cast<double>(steps);
  const double total = std::accumulate(step_times.begin(), step_times.end(), 0.0);
  const double named = std::accumulate(result.phases.begin(), result.phases.end(), 0.0);
  result.phases[static_cast<std::size_t>(Phase::kOther)] += total - named;
  for (double& phase : result.phases) phase /= n;
  result.steps = steps;
  result.median_s = median(step_times);
  result.min_s = *std::min_element(step_times.begin(), step_times.end());
  result.max_s = *std::max_element(step_times.begin(), step_times.end());
  result.tokens = step.tokens();
  result.matmul_flops = products.flops();
  result.matmul_median_s = median(product_times);
  result.memory_bytes = step.memory_bytes();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  result.peak_rss_bytes = static_cast<double>(usage.ru_maxrss) * 1024;
  if (allocations()) result.allocations = static_cast<double>(n_allocations) / n;
  result.primitives = static_cast<double>(kernels::primitives_made() - primitives) / n;
  return result;
}

}  // namespace headroom
