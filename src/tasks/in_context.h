// What in-context tasks share: a prompt of pairs (x_i, y_i) and a prediction of each y_i from the
// pairs before it (Garg et al., arXiv 2208.01066; science D.1). A function class says only how y
// follows from x.
//
// Tokens are x_1, y_1, x_2, y_2, ... with y in coordinate 0 and zeros after it; the last y is a
// token too, so T = 2 points. Prediction p is read at the token of x_{p+1} and has seen p examples.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/view.h"
#include "tasks/task.h"

namespace headroom {

class InContextTask : public Task {
 public:
  TaskShape shape(Stage stage) const override;

  // x_i ~ N(0, I) with coordinates from stage.dims on set to 0, y_i = f(x_i) + noise * N(0, 1).
  // Draws x, then f, then the noise, so that configs that differ in `noise` alone share x and f.
  void sample(Random& random, Stage stage, View<float, 2> input, View<float, 2> query,
              View<float, 2> target) const override;

  // excess_loss: the item's loss divided by sum_{i<k} max(dims - i, 0) / k + noise^2, k = points:
  // the mean over prefixes of the error of noiseless least squares (science D.1), plus what no
  // predictor can know.
  std::vector<std::string> metric_names() const override;
  void metrics(Stage stage, View<const float, 2> input, View<const float, 2> target,
               View<const float, 2> output, std::span<double> out) const override;

  std::vector<std::string> train_columns() const override;
  std::vector<double> train_values(Stage stage) const override;

 protected:
  explicit InContextTask(const TaskConfig& config) : Task(config) {}

  // Draws a function f and writes y_i = f(x_i), without noise. x (P,d); y has P entries; `scratch`
  // holds P * d floats to use at will.
  virtual void answer(Random& random, Stage stage, View<const float, 2> x, std::span<float> scratch,
                      std::span<float> y) const = 0;
};

// The pairs of a prompt, as predictors need them.
struct Prompt {
  Matrix<const float> x;  // (P,d)
  Matrix<const float> y;  // (P,1)
};
Prompt read_prompt(View<const float, 2> input);

}  // namespace headroom
