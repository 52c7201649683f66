// y = sqrt(2 / h) <w_2, relu(W_1 x)> with W_1 (h,d) and w_2 (h) standard normal (science D.1): E
// y^2 = E ||x||^2.
#include <algorithm>
#include <cmath>

#include "tasks/in_context.h"
#include "tasks/points.h"
#include "tasks/tasks.h"

namespace headroom {

namespace {

class ReluNetworkRegression final : public InContextTask {
 public:
  explicit ReluNetworkRegression(const TaskConfig& config) : InContextTask(config) {}

 protected:
  // Unit by unit, so that no matrix is held.
  void answer(Random& random, Stage, View<const float, 2> x, std::span<float> w,
              std::span<float> y) const override {
    std::ranges::fill(y, 0.0f);
    const double scale = std::sqrt(2.0 / static_cast<double>(config_.hidden));
    for (std::size_t unit = 0; unit < config_.hidden; ++unit) {
      random.fill_normal(w);
      const float out = static_cast<float>(scale * random.normal());
      for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] += out * std::max(dot(w.data(), x.data + i * w.size(), w.size()), 0.0f);
      }
    }
  }
  double mean_square(const InputMoments& x) const override {
    return static_cast<double>(config_.dim) * x.square;
  }
};

}  // namespace

std::unique_ptr<Task> make_relu_network_regression(const TaskConfig& config) {
  return std::make_unique<ReluNetworkRegression>(config);
}

}  // namespace headroom
