// y = sign(<w, x>), -1 or 1, with w ~ N(0, I_d) (Garg et al.'s code); the output is a logit.
#include "tasks/in_context.h"
#include "tasks/points.h"
#include "tasks/score.h"
#include "tasks/tasks.h"

namespace headroom {

namespace {

class LinearClassification final : public InContextTask {
 public:
  explicit LinearClassification(const TaskConfig& config) : InContextTask(config) {}

  TaskShape shape(Stage stage) const override {
    TaskShape shape = InContextTask::shape(stage);
    shape.loss = LossType::kLogistic;
    return shape;
  }

  // accuracy: the share of predictions of the right sign; 0 is half right.
  std::vector<std::string> metric_names() const override { return {"accuracy"}; }
  void metrics(Stage, View<const float, 2>, View<const float, 2> target,
               View<const float, 2> output, std::span<double> out) const override {
    double wrong = 0;
    for (std::size_t p = 0; p < target.dim(0); ++p) {
      wrong += wrong_sign(output.data[p], target.data[p]);
    }
    out[0] = 1 - wrong / static_cast<double>(target.dim(0));
  }

 protected:
  void answer(Random& random, Stage, View<const float, 2> x, std::span<float> w,
              std::span<float> y) const override {
    random.fill_normal(w);
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = dot(w.data(), x.data + i * w.size(), w.size()) < 0 ? -1.0f : 1.0f;
    }
  }
  double mean_square(const InputMoments&) const override { return 1; }
};

}  // namespace

std::unique_ptr<Task> make_linear_classification(const TaskConfig& config) {
  return std::make_unique<LinearClassification>(config);
}

}  // namespace headroom
