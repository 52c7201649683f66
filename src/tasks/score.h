// What an evaluation adds up, for a model and for a baseline alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tasks/bootstrap.h"
#include "tasks/task.h"

namespace headroom {

struct Mean {
  double mean = 0, sem = 0;  // sem: standard error of the mean over items; nan for fewer than two
  std::optional<Interval> interval = {};  // 90 % bootstrap, where one was asked for
};

struct Score {
  std::size_t items = 0;
  Mean loss;                  // mean over items of the item's loss; nan without items
  std::vector<Mean> metrics;  // by Task::metric_names()
  std::vector<Mean>
      positions;  // by position, divided by Task::position_scale(); empty without positions
  std::size_t first_position = 0;  // examples that positions[0] has seen
};

// The mean over an item's predictions, one number each, of (output - target)^2.
double mean_squared_error(View<const float, 2> output, View<const float, 2> target);

// 1 where `output` has another sign than the target, -1 or 1; 0 has half of each; nan has none.
double wrong_sign(float output, float target);

// Adds items one by one, in order, in double (Welford), so that the batch size of an evaluation
// does not matter. An item is first measured to a row of numbers, which any thread may do, then the
// row is added.
class ScoreSheet {
 public:
  ScoreSheet(const Task& task, Stage stage);  // the task must outlive the sheet
  // Of predictions of several tasks in a row, which are equal but for their prompts: by position,
  // without metrics.
  explicit ScoreSheet(std::span<const Task* const> prompts);

  // One item: input (T,D), target (P,O), output (P,O): the predictions only.
  // The item's loss is the mean over its P predictions of the task's loss, summed over O. By
  // position it is that of squared errors, and for signs the share that is wrong.
  void add(View<const float, 2> input, View<const float, 2> target, View<const float, 2> output);

  // The same for B items, measured in parallel: input (B,T,D), target (B,P,O), output (B,P,O).
  // `counts` of a Bootstrap for these items asks for intervals: all items' or none.
  void add_batch(View<const float, 3> input, View<const float, 3> target,
                 View<const float, 3> output, View<const std::uint16_t, 2> counts = {});

  // The two halves of add: `row` has row_size() entries. measure may run in several threads at
  // once.
  std::size_t row_size() const { return sums_.size(); }
  void measure(View<const float, 2> input, View<const float, 2> target, View<const float, 2> output,
               std::span<double> row) const;
  void add_row(std::span<const double> row);
  // Rows one behind the other, with counts as above.
  void add_rows(std::span<const double> rows, View<const std::uint16_t, 2> counts = {});

  Score score() const;

 private:
  struct Sum {
    double mean = 0, m2 = 0;
  };
  Mean mean_of(std::size_t entry) const;

  const Task* task_ = nullptr;  // whose metrics are measured
  Stage stage_;
  double position_scale_;
  LossType loss_;
  std::size_t n_metrics_, n_positions_, first_position_;
  std::size_t items_ = 0;
  std::vector<Sum> sums_;  // loss, metrics, positions: the order of a row
  BootstrapSums resampled_;
  std::vector<double> rows_;  // scratch of add and add_batch
};

}  // namespace headroom
