// y = <w, x> with w ~ N(0, I_d), drawn in all d coordinates whatever the stage (science D.1).
#include "tasks/in_context.h"
#include "tasks/points.h"
#include "tasks/tasks.h"

namespace headroom {

namespace {

class LinearRegression final : public InContextTask {
 public:
  explicit LinearRegression(const TaskConfig& config) : InContextTask(config) {}

  // With predictions at every position excess_loss: the item's loss divided by sum_{i<k} max(dims -
  // i, 0) E x_c^2 / k + noise^2, k = points: the mean over prefixes of the error of noiseless least
  // squares (science D.1), plus what no predictor can know.
  std::vector<std::string> metric_names() const override {
    return at_every_position() ? std::vector<std::string>{"excess_loss"}
                               : InContextTask::metric_names();
  }
  void metrics(Stage stage, View<const float, 2> input, View<const float, 2> target,
               View<const float, 2> output, std::span<double> out) const override {
    if (!at_every_position()) return InContextTask::metrics(stage, input, target, output, out);
    const std::size_t n = target.dim(0);
    double loss = 0, unexplained = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double error = double{output.data[i]} - double{target.data[i]};
      loss += error * error;
      if (i < stage.dims) unexplained += static_cast<double>(stage.dims - i);
    }
    const double count = static_cast<double>(n);
    const double range = config_.input_range.value_or(0);
    const double variance = config_.input_range ? range * range / 3 : 1;
    out[0] = loss / count / (unexplained / count * variance + config_.noise * config_.noise);
  }

 protected:
  void answer(Random& random, Stage, View<const float, 2> x, std::span<float> w,
              std::span<float> y) const override {
    random.fill_normal(w);
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] = dot(w.data(), x.data + i * w.size(), w.size());
  }
  double mean_square(const InputMoments& x) const override {
    return static_cast<double>(config_.dim) * x.square;
  }

 private:
  bool at_every_position() const { return config_.layout == Layout::kInterleaved; }
};

}  // namespace

std::unique_ptr<Task> make_linear_regression(const TaskConfig& config) {
  return std::make_unique<LinearRegression>(config);
}

}  // namespace headroom
