#include "tasks/task.h"

#include <cassert>

#include "core/parallel.h"

namespace headroom {

namespace {

// Small enough to spread a batch of 64 heavy items over 16 workers, large enough for cheap items.
constexpr std::size_t kTileItems = 4;

// Member n of the pool draws its function from step 0 of (seed, kPool), item n, and where whole
// prompts are pooled the rest from step 1.
void draw_from_pool(const Task& task, std::uint64_t seed, Random& random, Stage stage,
                    View<float, 2> input, View<float, 2> query, View<float, 2> target) {
  const std::uint32_t member = random.below(static_cast<std::uint32_t>(*task.config().pool));
  Random function(seed, Purpose::kPool, 0, member), prompt(seed, Purpose::kPool, 1, member);
  const bool prompts = task.config().pool_of == PoolOf::kPrompts;
  task.draw({prompts ? prompt : random, function}, stage, input, query, target);
}

}  // namespace

Stage Task::stage(std::size_t update) const {
  Stage stage{config_.dim, config_.points};
  if (config_.curriculum) {
    if (config_.curriculum->dims) stage.dims = config_.curriculum->dims->at(update);
    if (config_.curriculum->points) stage.points = config_.curriculum->points->at(update);
  }
  return stage;
}

Stage Task::final_stage() const {
  Stage stage{config_.dim, config_.points};
  if (config_.curriculum) {
    if (config_.curriculum->dims) stage.dims = config_.curriculum->dims->end;
    if (config_.curriculum->points) stage.points = config_.curriculum->points->end;
  }
  return stage;
}

std::size_t total_predictions(std::span<const Task* const> tasks) {
  std::size_t total = 0;
  for (const Task* task : tasks) total += task->shape().predictions;
  return total;
}

Batch Batch::range(std::size_t first, std::size_t count) const {
  return {.input = input.range(first, count),
          .query = query.empty() ? View<float, 3>{} : query.range(first, count),
          .target = target.range(first, count),
          .read_at = read_at,
          .loss = loss};
}

Batch take_batch(Arena<float>& arena, const TaskShape& shape, std::size_t n) {
  Batch batch;
  batch.read_at = shape.read_at();
  batch.loss = shape.loss;
  batch.input = arena.take(n, shape.tokens, shape.input_dim);
  if (shape.queries > 0) batch.query = arena.take(n, shape.queries, shape.input_dim);
  batch.target = arena.take(n, shape.predictions, shape.output_dim);
  return batch;
}

void OwnedBatch::shape(const TaskShape& shape, std::size_t n) {
  Arena<float> measure;
  take_batch(measure, shape, n);
  memory = Arena<float>(measure.used());
  views = take_batch(memory, shape, n);
}

Batch front_of(const Batch& memory, const TaskShape& shape) {
  const std::size_t n = memory.items();
  Batch batch = memory;
  batch.read_at = shape.read_at();
  batch.loss = shape.loss;
  batch.input.dims = {n, shape.tokens, shape.input_dim};
  if (!batch.query.empty()) batch.query.dims = {n, shape.queries, shape.input_dim};
  batch.target.dims = {n, shape.predictions, shape.output_dim};
  assert(batch.input.size() <= memory.input.size() && batch.query.size() <= memory.query.size() &&
         batch.target.size() <= memory.target.size());
  return batch;
}

void sample_batch(const Task& task, std::uint64_t seed, Purpose purpose, std::uint64_t step,
                  std::uint64_t first_item, Stage stage, const Batch& batch) {
  [[maybe_unused]] const TaskShape shape = task.shape(stage);
  assert(batch.input.dim(0) == batch.target.dim(0));
  assert(batch.query.empty()
             ? shape.queries == 0
             : batch.query.dim(0) == batch.items() && batch.query.dim(1) == shape.queries &&
                   batch.query.dim(2) == shape.input_dim);
  assert(batch.input.dim(1) == shape.tokens && batch.input.dim(2) == shape.input_dim);
  assert(batch.target.dim(1) == shape.predictions && batch.target.dim(2) == shape.output_dim);
  parallel_rows(batch.items(), kTileItems, [&](std::size_t first, std::size_t count) {
    for (std::size_t b = first; b < first + count; ++b) {
      Random random(seed, purpose, step, first_item + b);
      const View<float, 2> query = batch.query.empty() ? View<float, 2>{} : batch.query[b];
      if (purpose == Purpose::kTrain && task.config().pool) {
        draw_from_pool(task, seed, random, stage, batch.input[b], query, batch.target[b]);
      } else {
        task.sample(random, stage, batch.input[b], query, batch.target[b]);
      }
    }
  });
}

}  // namespace headroom
