// y = <w, x> with w ~ N(0, I_d), drawn in all d coordinates whatever the stage (science D.1).
#include "tasks/in_context.h"
#include "tasks/points.h"
#include "tasks/tasks.h"

namespace headroom {

namespace {

class LinearRegression final : public InContextTask {
 public:
  explicit LinearRegression(const TaskConfig& config) : InContextTask(config) {}

  double position_scale() const override { return static_cast<double>(config_.dim); }

 protected:
  void answer(Random& random, Stage, View<const float, 2> x, std::span<float> scratch,
              std::span<float> y) const override {
    const std::size_t d = config_.dim;
    const std::span<float> w = scratch.first(d);
    random.fill_normal(w);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = dot(w.data(), x.data + i * d, d);
  }
};

}  // namespace

std::unique_ptr<Task> make_linear_regression(const TaskConfig& config) {
  return std::make_unique<LinearRegression>(config);
}

}  // namespace headroom
