#include <algorithm>
#include <cmath>
#include <vector>

#include "baselines/makers.h"
#include "tasks/in_context.h"
#include "tasks/points.h"

namespace headroom {

namespace {

// The mean of y over the K examples nearest by Euclidean distance, the earlier of equals; over all
// examples where there are fewer, 0 where there are none (science D.1). Uniform, or weighted by
// 1 / distance, where examples at distance 0 outweigh all others.
class NearestExamples final : public Baseline {
 public:
  NearestExamples(double count, bool weighted)
      : count_(static_cast<std::size_t>(count)), weighted_(weighted) {}

  void predict(std::size_t, View<const float, 2> input, View<const float, 2>,
               View<float, 2> output) const override {
    const Prompt prompt = read_prompt(input);
    std::vector<Example> nearest;
    const std::size_t first = first_asked(prompt, output);
    for (std::size_t k = first; k < prompt.x.rows; ++k) {
      find(prompt, k, nearest);
      output.data[k - first] =
          static_cast<float>(weighted_ ? weighted_mean(nearest) : mean(nearest));
    }
  }

 private:
  struct Example {
    float distance = 0, y = 0;  // distance squared
  };

  // Ascending by distance.
  void find(const Prompt& prompt, std::size_t k, std::vector<Example>& nearest) const {
    nearest.clear();
    for (std::size_t i = 0; i < k; ++i) {
      const Example example{squared_distance(prompt.x.row(i), prompt.x.row(k), prompt.x.cols),
                            prompt.y(i, 0)};
      if (nearest.size() < count_) {
        nearest.push_back(example);
      } else if (example.distance < nearest.back().distance) {
        nearest.back() = example;
      } else {
        continue;
      }
      for (std::size_t r = nearest.size() - 1;
           r > 0 && nearest[r].distance < nearest[r - 1].distance; --r) {
        std::swap(nearest[r], nearest[r - 1]);
      }
    }
  }

  static double mean(const std::vector<Example>& nearest) {
    double sum = 0;
    for (const Example& example : nearest) sum += example.y;
    return nearest.empty() ? 0.0 : sum / static_cast<double>(nearest.size());
  }

  static double weighted_mean(const std::vector<Example>& nearest) {
    if (nearest.empty()) return 0.0;
    const bool met = nearest.front().distance == 0;
    double sum = 0, weights = 0;
    for (const Example& example : nearest) {
      if (met && example.distance > 0) break;
      const double weight = met ? 1.0 : 1.0 / std::sqrt(double{example.distance});
      sum += weight * double{example.y};
      weights += weight;
    }
    return sum / weights;
  }

  std::size_t count_;
  bool weighted_;
};

}  // namespace

std::unique_ptr<Baseline> make_nearest(const BaselineSetting& setting) {
  return std::make_unique<NearestExamples>(setting.value, false);
}

std::unique_ptr<Baseline> make_weighted_nearest(const BaselineSetting& setting) {
  return std::make_unique<NearestExamples>(setting.value, true);
}

}  // namespace headroom
