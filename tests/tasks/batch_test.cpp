// Every item is a pure function of its stream: neither the batch, its neighbours nor the threads
// matter.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/parallel.h"
#include "tasks/item.h"
#include "tasks/tasks.h"

namespace headroom::batch_test {

std::vector<TaskConfig> every_kind() {
  std::vector<TaskConfig> configs;
  for (const PointsFrom from :
       {PointsFrom::kSphere, PointsFrom::kOrthonormal, PointsFrom::kAntipodal}) {
    configs.push_back(retrieval(9, 7, from, QueryMode::kSelfFarthest));
    configs.push_back(retrieval(9, 7, from, QueryMode::kSelfNearest));
  }
  configs.push_back(separate(9, 7, 4));
  configs.push_back(separate(9, 7, 4));
  configs.back().type = TaskType::kNearestMinusFarthest;
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
    const TaskShape shape = task->shape();
    const bool asked =
        type.value == TaskType::kNearestMinusFarthest || type.value == TaskType::kInnerProduct;
    EXPECT_EQ(shape.queries, asked ? 16u : 0u) << type.name;
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
      task->sample(random, stage, alone.input(b), alone.query(b), alone.target(b));
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
      sample_batch(*task, 42, Purpose::kTrain, 17, 100 + b, stage, parts.batch.range(b, count));
    }
    EXPECT_EQ(parts.memory, alone.memory);
  }
  set_threads(threads_before);
}

TEST(Batch, MemoryIsTakenForEveryPartAndItsFrontServesSmallerShapes) {
  const TaskShape large{
      .tokens = 6, .queries = 5, .input_dim = 3, .predictions = 5, .output_dim = 2};
  TaskShape small = large;
  small.tokens = 2;
  small.queries = small.predictions = 1;
  Arena<float> measure;
  take_batch(measure, large, 4);
  Arena<float> arena(measure.used());
  const Batch batch = take_batch(arena, large, 4), front = front_of(batch, small);
  EXPECT_EQ(batch.items(), 4u);
  EXPECT_EQ(batch.input.dims, (std::array<std::size_t, 3>{4, 6, 3}));
  EXPECT_EQ(batch.query.dims, (std::array<std::size_t, 3>{4, 5, 3}));
  EXPECT_EQ(batch.target.dims, (std::array<std::size_t, 3>{4, 5, 2}));
  EXPECT_EQ(front.input.dims, (std::array<std::size_t, 3>{4, 2, 3}));
  EXPECT_EQ(front.query.dims, (std::array<std::size_t, 3>{4, 1, 3}));
  EXPECT_EQ(front.target.dims, (std::array<std::size_t, 3>{4, 1, 2}));
  EXPECT_EQ(front.query.data, batch.query.data);
  EXPECT_EQ(batch.range(1, 2).query.data, batch.query.data + 15);
  EXPECT_EQ(batch.range(1, 2).items(), 2u);

  TaskShape self = large;
  self.queries = 0;
  Arena<float> other(measure.used());
  const Batch plain = take_batch(other, self, 4);
  EXPECT_TRUE(plain.query.empty());
  EXPECT_TRUE(plain.range(1, 2).query.empty());
  EXPECT_EQ(large.outputs(), 5u);
  EXPECT_EQ(self.outputs(), 6u);
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

}  // namespace headroom::batch_test
