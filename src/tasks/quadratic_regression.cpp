// y = sum_c w_c x_c^2 / sqrt(3) with w ~ N(0, I_d): E y^2 = d for Gaussian x (Garg et al.'s code).
#include <cmath>
#include <numbers>

#include "tasks/in_context.h"
#include "tasks/tasks.h"

namespace headroom {

namespace {

class QuadraticRegression final : public InContextTask {
 public:
  explicit QuadraticRegression(const TaskConfig& config) : InContextTask(config) {}

 protected:
  void answer(Random& random, Stage, View<const float, 2> x, std::span<float> w,
              std::span<float> y) const override {
    random.fill_normal(w);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const float* const row = x.data + i * w.size();
      double sum = 0;
      for (std::size_t c = 0; c < w.size(); ++c)
        sum += double{w[c]} * double{row[c]} * double{row[c]};
      y[i] = static_cast<float>(sum * std::numbers::inv_sqrt3);
    }
  }
  double mean_square(const InputMoments& x) const override {
    return static_cast<double>(config_.dim) * x.fourth / 3;
  }
};

}  // namespace

std::unique_ptr<Task> make_quadratic_regression(const TaskConfig& config) {
  return std::make_unique<QuadraticRegression>(config);
}

}  // namespace headroom
