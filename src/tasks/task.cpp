#include "tasks/task.h"

#include <cassert>

#include "core/parallel.h"

namespace headroom {

namespace {

// Small enough to spread a batch of 64 heavy items over 16 workers, large enough for cheap items.
constexpr std::size_t kTileItems = 4;

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

void sample_batch(const Task& task, std::uint64_t seed, Purpose purpose, std::uint64_t step,
                  std::uint64_t first_item, Stage stage, const Batch& batch) {
  [[maybe_unused]] const TaskShape shape = task.shape(stage);
  assert(batch.input.dim(0) == batch.target.dim(0));
  assert(batch.input.dim(1) == shape.tokens && batch.input.dim(2) == shape.input_dim);
  assert(batch.target.dim(1) == shape.predictions && batch.target.dim(2) == shape.output_dim);
  parallel_rows(batch.input.dim(0), kTileItems, [&](std::size_t first, std::size_t count) {
    for (std::size_t b = first; b < first + count; ++b) {
      Random random(seed, purpose, step, first_item + b);
      task.sample(random, stage, batch.input[b], batch.target[b]);
    }
  });
}

}  // namespace headroom
