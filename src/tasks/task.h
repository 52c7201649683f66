// A task makes sequences of tokens and the answers wanted at some of them. Items are pure functions
// of their random stream, so a batch can be made in any order by any number of threads.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/arena.h"
#include "core/prediction.h"
#include "core/rng.h"
#include "core/view.h"
#include "tasks/task_config.h"

namespace headroom {

// Letters: B batch, T tokens of a sequence, Q query tokens beside it, D coordinates of a token, P
// predictions of a sequence, O coordinates of a prediction. Prediction p is read from the model's
// output at token first_token + p * token_stride: with queries P = Q and at query token p.
struct TaskShape {
  std::size_t tokens = 0;       // T
  std::size_t queries = 0;      // Q; 0: the tokens ask themselves
  std::size_t input_dim = 0;    // D
  std::size_t predictions = 0;  // P
  std::size_t output_dim = 0;   // O
  std::size_t token_stride = 1, first_token = 0;
  std::size_t first_position = 0;  // examples that prediction 0 has seen (in context)
  LossType loss = LossType::kSquared;

  // Rows of the model's output: one a query token where there are any, else one a token.
  std::size_t outputs() const { return queries > 0 ? queries : tokens; }
  ReadAt read_at() const { return {.first = first_token, .stride = token_stride}; }
  // What counts as tokens of an item: those that are asked and those that ask.
  std::size_t all_tokens() const { return tokens + queries; }
};

// How hard the curriculum makes an item: only the first `dims` coordinates of x are non-zero, and a
// sequence holds `points` points.
struct Stage {
  std::size_t dims = 0, points = 0;
  bool operator==(const Stage&) const = default;
};

// The streams of one item. Its function comes from another only where training has a finite pool.
struct Draws {
  Random& item;
  Random& function;
};

class Task {
 public:
  virtual ~Task() = default;

  Stage stage(std::size_t update) const;  // of training update 1, 2, ...
  Stage final_stage() const;              // the curriculum's end, at which models are evaluated
  virtual TaskShape shape(Stage stage) const = 0;
  TaskShape shape() const { return shape(final_stage()); }

  // One item: input (T,D), query (Q,D), empty without queries, target (P,O).
  void sample(Random& random, Stage stage, View<float, 2> input, View<float, 2> query,
              View<float, 2> target) const {
    draw({random, random}, stage, input, query, target);
  }
  virtual void draw(Draws draws, Stage stage, View<float, 2> input, View<float, 2> query,
                    View<float, 2> target) const = 0;

  // Metrics beside the loss, each averaged over items; out has one entry a name.
  // input (T,D), target (P,O), output (P,O) are one item's.
  virtual std::vector<std::string> metric_names() const = 0;
  virtual void metrics(Stage stage, View<const float, 2> input, View<const float, 2> target,
                       View<const float, 2> output, std::span<double> out) const = 0;

  // In-context tasks report the error by position, divided by this; 0 = positions mean nothing
  // here.
  virtual double position_scale() const = 0;

  // Further columns of train.csv, such as the curriculum's stage.
  virtual std::vector<std::string> train_columns() const = 0;
  virtual std::vector<double> train_values(Stage stage) const = 0;

  const TaskConfig& config() const { return config_; }

 protected:
  explicit Task(TaskConfig config) : config_(config) {}
  TaskConfig config_;
};

std::unique_ptr<Task> make_task(const TaskConfig& config);

// P of all the tasks at their final stages.
std::size_t total_predictions(std::span<const Task* const> tasks);

// Views of one batch at one stage: input (B,T,D), query (B,Q,D), empty without queries, target
// (B,P,O), and how the predictions of it are judged.
struct Batch {
  View<float, 3> input, query, target;
  ReadAt read_at;
  LossType loss = LossType::kSquared;

  std::size_t items() const { return input.dim(0); }
  Batch range(std::size_t first, std::size_t count) const;  // items first .. first + count - 1
};

// Memory for n items of this shape.
Batch take_batch(Arena<float>& arena, const TaskShape& shape, std::size_t n);
// The same with the memory it lies in.
struct OwnedBatch {
  Arena<float> memory;
  Batch views;
  void shape(const TaskShape& shape, std::size_t n);
};
// The front of `memory` as as many items of this shape, which must not be larger: a batch of an
// earlier stage of the curriculum.
Batch front_of(const Batch& memory, const TaskShape& shape);

// Items first_item .. first_item + B - 1 of stream (seed, purpose, step), in parallel. Where the
// task has a finite pool, those of kTrain come from it: each item draws its number in the pool,
// whatever the others drew, so that a pool may be smaller than a batch.
void sample_batch(const Task& task, std::uint64_t seed, Purpose purpose, std::uint64_t step,
                  std::uint64_t first_item, Stage stage, const Batch& batch);

}  // namespace headroom
