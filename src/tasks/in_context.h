// What in-context tasks share: a prompt of pairs (x_i, y_i) and a prediction of each y_i from the
// pairs before it (Garg et al., arXiv 2208.01066; science D.1). A function class says only how y
// follows from x.
//
// Interleaved tokens are x_1, y_1, x_2, y_2, ... with y in coordinate 0 and zeros after it; the
// last y is a token too, so T = 2 points. Prediction p is read at the token of x_{p+1} and has seen
// p examples. Paired tokens are (y_i, x_i), D = d + 1 and T = points, with 0 for the last y, which
// is the one prediction (von Oswald et al., arXiv 2212.07677; science D.3).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/view.h"
#include "tasks/shifts.h"
#include "tasks/task.h"

namespace headroom {

class InContextTask : public Task {
 public:
  TaskShape shape(Stage stage) const override;

  // x_i ~ N(0, I), or uniform, with coordinates from stage.dims on set to 0; y_i = f(x_i) + noise
  // N(0, 1). Draws x, then f, then the noise, so that configs that differ in `noise` or `layout`
  // alone share x and f, and so do shifted items with the unshifted ones.
  void draw(Draws draws, Stage stage, View<float, 2> input, View<float, 2> query,
            View<float, 2> target) const override;

  // normalized_loss: the item's loss as a multiple of E y^2 without noise, the error of predicting
  // 0.
  std::vector<std::string> metric_names() const override;
  void metrics(Stage stage, View<const float, 2> input, View<const float, 2> target,
               View<const float, 2> output, std::span<double> out) const override;

  double position_scale() const override;  // E y^2 without noise

  // From now on items are shifted. With `examples` they are prompts of so many examples and a
  // query, cut from those of all points, and that query's is the one prediction.
  void set_shift(std::shared_ptr<const Shift> shift, std::optional<std::size_t> examples);

  std::vector<std::string> train_columns() const override;
  std::vector<double> train_values(Stage stage) const override;

 protected:
  explicit InContextTask(const TaskConfig& config) : Task(config) {}

  // Draws a function f and writes y_i = f(x_i), without noise. x (P,d); y has P entries; `scratch`
  // holds d floats to use at will.
  virtual void answer(Random& random, Stage stage, View<const float, 2> x, std::span<float> scratch,
                      std::span<float> y) const = 0;

  // E y^2 over f and over x with these moments, of inputs in d coordinates, without noise.
  virtual double mean_square(const InputMoments& x) const = 0;

  InputMoments input_moments() const;  // at the final stage

 private:
  friend std::unique_ptr<Task> interleaved(const Task& task);
  std::shared_ptr<const Shift> shift_;
  std::optional<std::size_t> examples_;
};

// The task whose tokens are interleaved and whose items are those of `task`: the form in which
// predictors read prompts. Nothing where the task is no in-context one with paired tokens.
std::unique_ptr<Task> interleaved(const Task& task);

// The pairs of a prompt of interleaved tokens, as predictors need them.
struct Prompt {
  Matrix<const float> x;  // (P,d)
  Matrix<const float> y;  // (P,1)
};
Prompt read_prompt(View<const float, 2> input);
// Predictors answer at the last P positions of a prompt, output (P,1): from this one on.
inline std::size_t first_asked(const Prompt& prompt, View<const float, 2> output) {
  return prompt.x.rows - output.dim(0);
}

}  // namespace headroom
