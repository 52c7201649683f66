#include "baselines/gradient_descent.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>

#include "baselines/makers.h"
#include "core/parallel.h"

namespace headroom {

namespace {

// A rate tuned on few prompts lets rare ones diverge in many steps; more prompts than the work
// allows are not drawn.
constexpr std::size_t kFewestItems = 512, kMostItems = 4096;
constexpr double kWork = 1.5e9;  // multiplications

std::size_t tune_items(const Task& task, std::size_t steps) {
  const double points = static_cast<double>(task.final_stage().points),
               d = static_cast<double>(task.config().dim);
  const double items = kWork / (points * d * d * static_cast<double>(steps));
  return static_cast<std::size_t>(std::clamp(items, double{kFewestItems}, double{kMostItems}));
}

// What one prompt says of one position: the coefficients of the prediction as a polynomial in the
// rate, the answer wanted, and the mean of the diagonal of G.
struct Trial {
  double scale = 0, wanted = 0;
  std::vector<double> coefficients;  // of rate^1 .. rate^steps
};

double prediction(const Trial& trial, double rate) {
  double sum = 0;
  for (std::size_t t = trial.coefficients.size(); t-- > 0;) {
    sum = (sum + trial.coefficients[t]) * rate;
  }
  return sum;
}

Trial trial_of(const ExampleSums& sums, const Eigen::VectorXd& x, double y, std::size_t steps) {
  const double k = static_cast<double>(sums.count), d = static_cast<double>(x.size());
  Trial trial{.scale = sums.gram.trace() / k / d, .wanted = y, .coefficients = {}};
  Eigen::VectorXd power = sums.moment / k;  // G^t c
  double binomial = static_cast<double>(steps), sign = 1;
  for (std::size_t t = 0; t < steps; ++t) {
    trial.coefficients.push_back(sign * binomial * x.dot(power));
    power = (sums.gram * power / k).eval();
    binomial *= static_cast<double>(steps - t - 1) / static_cast<double>(t + 2);
    sign = -sign;
  }
  return trial;
}

double best_rate(std::span<const std::vector<Trial>> prompts, std::size_t position) {
  double scale = 0;
  for (const std::vector<Trial>& trials : prompts) scale += trials[position].scale;
  if (scale <= 0) return 0;
  const double unit = static_cast<double>(prompts.size()) / scale;
  const auto error = [&](double log_rate) {
    const double rate = std::exp(log_rate) * unit;
    double sum = 0;
    for (const std::vector<Trial>& trials : prompts) {
      const double off = prediction(trials[position], rate) - trials[position].wanted;
      sum += off * off;
    }
    return sum;
  };
  constexpr int kGrid = 64, kRefinements = 30;
  const double low = std::log(1e-4), step = (std::log(4.0) - low) / (kGrid - 1);
  double best = low, least = error(low);
  for (int i = 1; i < kGrid; ++i) {
    const double here = low + i * step, value = error(here);
    if (value < least) {
      least = value;
      best = here;
    }
  }
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double a = best - step, b = best + step;
  for (int i = 0; i < kRefinements; ++i) {
    const double left = b - golden * (b - a), right = a + golden * (b - a);
    if (error(left) < error(right)) {
      b = right;
    } else {
      a = left;
    }
  }
  return std::exp((a + b) / 2) * unit;
}

class GradientDescent final : public Baseline {
 public:
  GradientDescent(std::size_t steps, std::vector<double> rates)
      : steps_(steps), rates_(std::move(rates)) {}

  void predict(std::size_t, View<const float, 2> input, View<const float, 2>,
               View<float, 2> output) const override {
    const Prompt prompt = read_prompt(input);
    const std::size_t first = first_asked(prompt, output);
    ExampleSums sums(prompt.x.cols);
    for (std::size_t k = 0; k < prompt.x.rows; ++k) {
      // Prompts longer than those it was tuned on go on with the last rate.
      const double rate = rates_[std::min(k, rates_.size() - 1)];
      const Eigen::VectorXd x = x_of(prompt, k);
      if (k >= first)
        output.data[k - first] = static_cast<float>(gradient_descent(sums, steps_, rate).dot(x));
      sums.add(x, prompt.y(k, 0));
    }
  }

 private:
  std::size_t steps_;
  std::vector<double> rates_;  // by position
};

}  // namespace

Eigen::VectorXd gradient_descent(const ExampleSums& sums, std::size_t steps, double rate) {
  Eigen::VectorXd w = Eigen::VectorXd::Zero(sums.moment.size());
  if (sums.count == 0) return w;
  const double pace = rate / static_cast<double>(sums.count);
  for (std::size_t t = 0; t < steps; ++t) w += pace * (sums.moment - sums.gram * w);
  return w;
}

std::optional<std::vector<double>> tuned_rates(const Task& task, std::uint64_t seed,
                                               std::size_t steps, std::size_t items,
                                               const Stop& stop) {
  assert(steps > 0 && steps <= kMostTunedSteps && items > 0);
  const TaskShape shape = task.shape();
  std::atomic<bool> stopped{false};
  std::vector<std::vector<Trial>> prompts(items);
  std::vector<OwnedBatch> batches(static_cast<std::size_t>(threads()));
  for (OwnedBatch& batch : batches) batch.shape(shape, 1);
  parallel_rows(items, 4, [&](std::size_t first, std::size_t count) {
    const OwnedBatch& batch = batches[worker()];
    for (std::size_t item = first; item < first + count; ++item) {
      if (stopped || asked_to_stop(stop)) {
        stopped = true;
        return;
      }
      Random random(seed, Purpose::kBaseline, kTuneStep, item);
      const View<float, 2> input = batch.views.input[0];
      task.sample(random, task.final_stage(), input, {}, batch.views.target[0]);
      const Prompt prompt = read_prompt(input);
      ExampleSums sums(prompt.x.cols);
      for (std::size_t k = 0; k < prompt.x.rows; ++k) {
        const Eigen::VectorXd x = x_of(prompt, k);
        prompts[item].push_back(k == 0 ? Trial{} : trial_of(sums, x, prompt.y(k, 0), steps));
        sums.add(x, prompt.y(k, 0));
      }
    }
  });
  if (stopped) return std::nullopt;
  std::vector<double> rates(prompts.front().size());
  parallel_for(rates.size(), [&](std::size_t k) { rates[k] = k == 0 ? 0 : best_rate(prompts, k); });
  return rates;
}

std::unique_ptr<Baseline> make_gradient_descent(const BaselineSetting& setting) {
  const auto steps = static_cast<std::size_t>(setting.value);
  auto rates =
      tuned_rates(setting.task, setting.seed, steps, tune_items(setting.task, steps), setting.stop);
  if (!rates) return nullptr;
  return std::make_unique<GradientDescent>(steps, std::move(*rates));
}

}  // namespace headroom
