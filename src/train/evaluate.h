// Held-out evaluation: the model, and the baselines, on one fixed stream of items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "baselines/baseline.h"
#include "core/arena.h"
#include "model/model.h"
#include "tasks/score.h"
#include "tasks/task.h"

namespace headroom {

ModelIo model_io(const Task& task);  // sizes of the task's longest sequences

// predictions (B,P,O) from a model's output (B,T,O), or (B,Q,O) with queries.
void take_predictions(View<float, 3> predictions, View<const float, 3> output,
                      const TaskShape& shape);

// Scores a model on items 0 .. n_items-1 of stream (seed, Purpose::kEval, 0) at the task's final
// stage, `batch` items at a time; the batch size does not change the score.
class Evaluator {
 public:
  Evaluator(const Task& task, std::uint64_t seed, std::size_t n_items, std::size_t batch);
  // Of several tasks, each item's predictions in a row (ScoreSheet). They must outlive this.
  Evaluator(std::span<const Task* const> prompts, std::uint64_t seed, std::size_t n_items,
            std::size_t batch);

  // The model must take batch() items of every task. Nothing if stop_requested() before the last
  // batch. `took`, if given, hears how many seconds each batch took. `intervals`: with bootstrap
  // intervals.
  std::optional<Score> run(Model<float>& model, const std::function<void(double)>& took = {},
                           bool intervals = false);

  std::size_t batch() const { return batch_; }

 private:
  std::vector<const Task*> prompts_;
  std::uint64_t seed_;
  std::size_t n_items_, batch_;
  Arena<float> memory_;
  struct Buffer {
    Batch items;
    View<float, 3> predictions;  // (B,P,O)
  };
  std::vector<Buffer> buffers_;           // one a task
  View<float, 3> targets_, predictions_;  // (B,P,O) of all tasks in a row
};

// One row {name, position, error, error_sem} a baseline and position: the lines of baselines.csv,
// header first. A task without positions has one row a baseline, its loss, with the position empty.
std::vector<std::string> baseline_rows(const std::vector<BaselineScore>& scores);

}  // namespace headroom
