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

// Scores a model on items 0 .. n_items-1 of stream (seed, Purpose::kEval, 0) at a task's final
// stage, `batch` items at a time; the batch size changes the score by rounding
// alone.
class Evaluator {
 public:
  Evaluator(const Task& task, std::uint64_t seed, std::size_t n_items, std::size_t batch);
  // A score a list of tasks, each item's predictions of a list in a row (ScoreSheet). The tasks
  // must outlive this. A prompt of one prediction whose tokens before it another prompt has too is
  // not read again where the model can continue that one (Model::forward_next): the same score
  // within rounding.
  Evaluator(std::vector<std::vector<const Task*>> lists, std::uint64_t seed, std::size_t n_items,
            std::size_t batch);

  // The model must take batch() items of every task. Nothing if stop_requested() before the last
  // batch. `took`, if given, hears how many seconds each batch took. `intervals`: with bootstrap
  // intervals.
  std::optional<Score> run(Model<float>& model, const std::function<void(double)>& took = {},
                           bool intervals = false);  // of the first list
  std::optional<std::vector<Score>> run_lists(Model<float>& model,
                                              const std::function<void(double)>& took = {},
                                              bool intervals = false);

  std::size_t batch() const { return batch_; }

 private:
  // A task and memory for a batch of it.
  struct Prompt {
    const Task* task = nullptr;
    Batch items;
    View<float, 3> next;         // (B,1,D) the token that is asked, where one prediction is
    View<float, 3> predictions;  // (B,P,O)
  };
  // What a batch of a list is scored by: (B,P,O) of all its tasks in a row.
  struct List {
    std::vector<const Task*> tasks;
    std::size_t first = 0;  // the first of its prompts
    View<float, 3> targets, predictions;
  };
  bool predict(Model<float>& model, std::size_t count);
  bool predict_next(Model<float>& model, const Prompt& seen, const Prompt& prompt,
                    std::size_t count);

  std::vector<List> lists_;
  std::uint64_t seed_;
  std::size_t n_items_, batch_;
  Arena<float> memory_;
  std::vector<Prompt> prompts_;  // of all lists
};

// One row {name, position, error, error_sem} a baseline and position: the lines of baselines.csv,
// header first. A task without positions has one row a baseline, its loss, with the position empty.
std::vector<std::string> baseline_rows(const std::vector<BaselineScore>& scores);

}  // namespace headroom
