#include "tasks/nearest_neighbor.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <type_traits>

#include "kernels/matmul.h"
#include "kernels/vector.h"
#include "tasks/points.h"
#include "tasks/tasks.h"

namespace headroom {

namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

constexpr std::size_t kAskers = 16, kPoints = 64;  // of a block
constexpr float kLowest = -std::numeric_limits<float>::infinity();

// The largest score of each asker of a block and the number of its point, the first of equals.
class Largest {
 public:
  Largest() {
    std::fill_n(best_, kVectors, kernels::broadcast(kLowest));
    std::fill_n(of_, kVectors, kernels::IntVec{} - 1);
  }
  void take(std::size_t vector, kernels::Vec score, kernels::IntVec number) {
    of_[vector] = score > best_[vector] ? number : of_[vector];
    best_[vector] = kernels::max(score, best_[vector]);
  }
  // kNone where no score was a number.
  std::size_t of(std::size_t asker) const {
    const std::int32_t j = of_[asker / kernels::kLanes][asker % kernels::kLanes];
    return j < 0 ? kNone : static_cast<std::size_t>(j);
  }
  static constexpr std::size_t kVectors = kAskers / kernels::kLanes;

 private:
  kernels::Vec best_[kVectors];
  kernels::IntVec of_[kVectors];
};

// answer(asker, j): the first j with the largest sign * <x_j, asker>, other than the asker's own
// number where the points ask themselves (askers = x); kNone where no inner product is a number.
// answer(asker, j, k): k with the smallest as well, where others ask. The products of a block of
// points with a block of askers are one matrix product, with the askers along the vector.
template <class Answer>
void for_nearest(View<const float, 2> x, View<const float, 2> askers, float sign,
                 const Answer& answer) {
  using kernels::IntVec, kernels::kLanes, kernels::Vec;
  constexpr bool kBoth = std::is_invocable_v<Answer, std::size_t, std::size_t, std::size_t>;
  const bool self = x.data == askers.data;
  assert(!(kBoth && self));
  float scores[kPoints * kAskers] = {};
  for (std::size_t i = 0; i < askers.dim(0); i += kAskers) {
    const std::size_t n = std::min(kAskers, askers.dim(0) - i);
    Largest largest, of_minus;
    for (std::size_t j = 0; j < x.dim(0); j += kPoints) {
      const std::size_t m = std::min(kPoints, x.dim(0) - j);
      kernels::matmul_float32({scores, m, n, kAskers}, x.range(j, m), kernels::Transpose::kNo,
                              askers.range(i, n), kernels::Transpose::kYes, sign, 0.0f);
      for (std::size_t own = std::max(i, j); self && own < std::min(i + n, j + m); ++own)
        scores[(own - j) * kAskers + own - i] = kLowest;
      for (std::size_t row = 0; row < m; ++row) {
        const IntVec number = IntVec{} + static_cast<std::int32_t>(j + row);
        for (std::size_t v = 0; v < Largest::kVectors; ++v) {
          const Vec score = kernels::load(scores + row * kAskers + v * kLanes);
          largest.take(v, score, number);
          if constexpr (kBoth) of_minus.take(v, -score, number);
        }
      }
    }
    for (std::size_t a = 0; a < n; ++a) {
      if constexpr (kBoth)
        answer(i + a, largest.of(a), of_minus.of(a));
      else
        answer(i + a, largest.of(a));
    }
  }
}

class NearestNeighbor final : public Task {
 public:
  explicit NearestNeighbor(const TaskConfig& config) : Task(config) {}

  TaskShape shape(Stage) const override {
    const std::size_t n = set_size(config_), queries = query_tokens(config_);
    return {.tokens = n,
            .queries = queries,
            .input_dim = config_.dim,
            .predictions = queries > 0 ? queries : n,
            .output_dim = config_.dim};
  }

  // The points are drawn first: configs that differ in `query` alone see the same ones.
  void draw(Draws draws, Stage, View<float, 2> input, View<float, 2> query,
            View<float, 2> target) const override {
    fill_set(draws.item, config_, input);
    if (config_.query == QueryMode::kSeparate) {
      fill_sphere(draws.item, query);
      answer_queries(input, query, target);
    } else {
      answer_self_queries(config_.query, input, target);
    }
  }

  std::vector<std::string> metric_names() const override { return {"accuracy"}; }

  // accuracy: the share of predictions to which the wanted point is the nearest of all points. A
  // prediction that is not finite is nearest to none.
  void metrics(Stage, View<const float, 2> input, View<const float, 2> target,
               View<const float, 2> output, std::span<double> out) const override {
    const std::size_t n = input.dim(0), d = input.dim(1);
    std::size_t right = 0;
    for (std::size_t p = 0; p < output.dim(0); ++p) {
      float least = std::numeric_limits<float>::infinity();
      const float* nearest = nullptr;
      for (std::size_t j = 0; j < n; ++j) {
        const float* x = input.data + j * d;
        const float distance = squared_distance(x, output.data + p * d, d);
        if (distance < least) {
          least = distance;
          nearest = x;
        }
      }
      if (nearest != nullptr && std::equal(nearest, nearest + d, target.data + p * d)) ++right;
    }
    out[0] = static_cast<double>(right) / static_cast<double>(output.dim(0));
  }

  double position_scale() const override { return 0; }
  std::vector<std::string> train_columns() const override { return {}; }
  std::vector<double> train_values(Stage) const override { return {}; }
};

}  // namespace

std::size_t set_size(const TaskConfig& config) {
  return config.points * (config.points_from == PointsFrom::kAntipodal ? 2 : 1);
}

void fill_set(Random& random, const TaskConfig& config, View<float, 2> x) {
  assert(x.dim(0) == set_size(config));
  switch (config.points_from) {
    case PointsFrom::kSphere:
      fill_sphere(random, x);
      break;
    case PointsFrom::kOrthonormal:
      fill_orthonormal(random, x);
      break;
    case PointsFrom::kAntipodal:
      fill_sphere(random, x.range(0, config.points));
      mirror(x);
      break;
  }
}

void answer_self_queries(QueryMode query, View<const float, 2> x, View<float, 2> target) {
  assert(x.dims == target.dims && query != QueryMode::kSeparate);
  const std::size_t d = x.dim(1);
  const float sign = query == QueryMode::kSelfFarthest ? -1.0f : 1.0f;
  for_nearest(x, x, sign, [&](std::size_t i, std::size_t answer) {
    std::copy_n(x.data + (answer == kNone ? i : answer) * d, d, target.data + i * d);
  });
}

void answer_queries(View<const float, 2> x, View<const float, 2> y, View<float, 2> target) {
  assert(y.dims == target.dims && x.dim(1) == y.dim(1) && x.dim(0) > 0);
  const std::size_t d = x.dim(1);
  for_nearest(x, y, 1.0f, [&](std::size_t p, std::size_t answer) {
    std::copy_n(x.data + (answer == kNone ? 0 : answer) * d, d, target.data + p * d);
  });
}

void answer_differences(View<const float, 2> x, View<const float, 2> y, double scale,
                        View<float, 2> target) {
  assert(y.dims == target.dims && x.dim(1) == y.dim(1) && x.dim(0) > 0);
  const std::size_t d = x.dim(1);
  const float factor = static_cast<float>(scale);
  const auto point = [&](std::size_t j) { return x.data + (j == kNone ? 0 : j) * d; };
  for_nearest(x, y, 1.0f, [&](std::size_t p, std::size_t near, std::size_t far) {
    for (std::size_t c = 0; c < d; ++c)
      target.data[p * d + c] = factor * (point(near)[c] - point(far)[c]);
  });
}

std::unique_ptr<Task> make_nearest_neighbor(const TaskConfig& config) {
  return std::make_unique<NearestNeighbor>(config);
}

}  // namespace headroom
