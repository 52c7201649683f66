// Every item is a pure function of its stream: neither the batch, its neighbours nor the threads
// matter.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/parallel.h"
#include "tasks/item.h"
#include "tasks/tasks.h"

namespace headroom {
namespace {

std::vector<TaskConfig> every_kind() {
  std::vector<TaskConfig> configs;
  for (const PointsFrom from :
       {PointsFrom::kSphere, PointsFrom::kOrthonormal, PointsFrom::kAntipodal}) {
    configs.push_back(retrieval(9, 7, from, QueryMode::kSelfFarthest));
    configs.push_back(retrieval(9, 7, from, QueryMode::kSelfNearest));
  }
  configs.push_back(regression(1, 1));
  configs.push_back(regression(5, 11));
  configs.push_back(regression(20, 41, 0.25));
  return configs;
}

TEST(Batch, EveryTaskTypeHasARow) {
  ASSERT_EQ(task_rows().size(), kTaskTypes.size());
  for (const auto& type : kTaskTypes) {
    TaskConfig config;
    config.type = type.value;
    const std::unique_ptr<Task> task = make_task(config);
    ASSERT_NE(task, nullptr) << type.name;
    EXPECT_EQ(task->config().type, type.value);
    EXPECT_EQ(task->train_columns().size(), task->train_values(task->final_stage()).size());
  }
}

TEST(Batch, EqualsItsItemsOneAtATimeWithAnyNumberOfThreads) {
  const int threads_before = threads();
  for (const TaskConfig& config : every_kind()) {
    const std::unique_ptr<Task> task = make_task(config);
    const Stage stage = task->final_stage();
    const std::size_t n = 11;
    Items alone(*task, n);
    for (std::size_t b = 0; b < n; ++b) {
      Random random(42, Purpose::kTrain, 17, 100 + b);
      task->sample(random, stage, alone.input(b), alone.target(b));
    }
    for (const int count : {1, 2, 5}) {
      set_threads(count);
      Items together(*task, n);
      sample_batch(*task, 42, Purpose::kTrain, 17, 100, stage, together.batch);
      EXPECT_EQ(together.memory, alone.memory);
    }
    Items parts(*task, n);
    for (std::size_t b = 0; b < n; b += 3) {
      const std::size_t count = std::min<std::size_t>(3, n - b);
      sample_batch(*task, 42, Purpose::kTrain, 17, 100 + b, stage,
                   {parts.batch.input.range(b, count), parts.batch.target.range(b, count)});
    }
    EXPECT_EQ(parts.memory, alone.memory);
  }
  set_threads(threads_before);
}

TEST(Batch, SeedPurposeStepAndItemEachMatter) {
  const std::unique_ptr<Task> task = make_task(regression(5, 4));
  const auto draw = [&](std::uint64_t seed, Purpose purpose, std::uint64_t step,
                        std::uint64_t item) {
    Items items(*task, 1);
    sample_batch(*task, seed, purpose, step, item, task->final_stage(), items.batch);
    return items.memory;
  };
  const std::vector<float> reference = draw(0, Purpose::kTrain, 1, 0);
  EXPECT_EQ(draw(0, Purpose::kTrain, 1, 0), reference);
  EXPECT_NE(draw(~std::uint64_t{0}, Purpose::kTrain, 1, 0), reference);
  EXPECT_NE(draw(0, Purpose::kEval, 1, 0), reference);
  EXPECT_NE(draw(0, Purpose::kTrain, 2, 0), reference);
  EXPECT_NE(draw(0, Purpose::kTrain, 1, 1), reference);
}

}  // namespace
}  // namespace headroom
