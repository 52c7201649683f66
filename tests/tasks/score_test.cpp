#include "tasks/score.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/parallel.h"
#include "tasks/item.h"

namespace headroom::score_test {

TEST(Score, MeansAndStandardErrorsOfHandMadeItems) {
  const std::unique_ptr<Task> task = make_task(regression(2, 2));
  ScoreSheet sheet(*task, task->final_stage());
  float input[8] = {}, target[2] = {0, 0};
  // Squared errors by position (2, 4), (6, 0), (4, 8): losses 3, 3, 6, excess losses 2, 2, 4.
  const double errors[3][2] = {{2, 4}, {6, 0}, {4, 8}};
  for (const auto& item : errors) {
    float output[2] = {static_cast<float>(std::sqrt(item[0])),
                       static_cast<float>(-std::sqrt(item[1]))};
    sheet.add({input, {4, 2}}, {target, {2, 1}}, {output, {2, 1}});
  }
  const Score score = sheet.score();
  EXPECT_EQ(score.items, 3u);
  EXPECT_NEAR(score.loss.mean, 4, 1e-6);
  EXPECT_NEAR(score.loss.sem, 1, 1e-6);  // variance (1 + 1 + 4) / 2 = 3, over 3 items
  ASSERT_EQ(score.metrics.size(), 1u);
  EXPECT_NEAR(score.metrics[0].mean, 4 / 1.5, 1e-6);
  EXPECT_NEAR(score.metrics[0].sem, 1 / 1.5, 1e-6);
  ASSERT_EQ(score.positions.size(), 2u);
  EXPECT_NEAR(score.positions[0].mean, 2, 1e-6);  // (2 + 6 + 4) / 3, divided by d = 2
  EXPECT_NEAR(score.positions[0].sem, std::sqrt(4.0 / 3) / 2, 1e-6);
  EXPECT_NEAR(score.positions[1].mean, 2, 1e-6);
  EXPECT_NEAR(score.positions[1].sem, std::sqrt(16.0 / 3) / 2, 1e-6);
}

TEST(Score, RetrievalSumsOverCoordinatesAndHasNoPositions) {
  const std::unique_ptr<Task> task = make_task(retrieval(2, 2));
  ScoreSheet sheet(*task, task->final_stage());
  float input[4] = {1, 0, 0, 1}, target[4] = {0, 1, 1, 0}, output[4] = {3, 1, 1, 1};
  sheet.add({input, {2, 2}}, {target, {2, 2}}, {output, {2, 2}});
  const Score score = sheet.score();
  EXPECT_DOUBLE_EQ(score.loss.mean, (9 + 1) / 2.0);
  EXPECT_TRUE(std::isnan(score.loss.sem));
  ASSERT_EQ(score.metrics.size(), 1u);
  EXPECT_EQ(score.metrics[0].mean,
            0.5);  // (3, 1) is nearest to (1, 0); (1, 1) ties, the first wins
  EXPECT_TRUE(score.positions.empty());
}

TEST(Score, WithoutItemsThereIsNoMean) {
  const std::unique_ptr<Task> task = make_task(retrieval(2, 2));
  const Score score = ScoreSheet(*task, task->final_stage()).score();
  EXPECT_EQ(score.items, 0u);
  EXPECT_TRUE(std::isnan(score.loss.mean));
  EXPECT_TRUE(std::isnan(score.loss.sem));
}

TEST(Score, ANanStaysVisible) {
  const std::unique_ptr<Task> task = make_task(regression(1, 1));
  ScoreSheet sheet(*task, task->final_stage());
  float input[2] = {}, target[1] = {0}, output[1] = {0};
  sheet.add({input, {2, 1}}, {target, {1, 1}}, {output, {1, 1}});
  output[0] = std::numeric_limits<float>::quiet_NaN();
  sheet.add({input, {2, 1}}, {target, {1, 1}}, {output, {1, 1}});
  EXPECT_TRUE(std::isnan(sheet.score().loss.mean));
}

TEST(Score, BatchesOfAnySizeAndAnyThreadsGiveTheSameBits) {
  const int threads_before = threads();
  const std::unique_ptr<Task> task = make_task(regression(3, 5));
  const std::size_t n = 50;
  Items items(*task, n);
  sample_batch(*task, 9, Purpose::kTest, 0, 0, task->final_stage(), items.batch);
  std::vector<float> memory(n * 5);
  Random(9, Purpose::kTest, 1, 0).fill_normal(memory);
  const View<float, 3> output(memory.data(), {n, 5, 1});
  ScoreSheet single(*task, task->final_stage());
  for (std::size_t i = 0; i < n; ++i) single.add(items.input(i), items.target(i), output[i]);
  const Score expected = single.score();
  for (const std::size_t batch : {1u, 7u, 50u}) {
    set_threads(static_cast<int>(batch % 3) + 1);
    ScoreSheet sheet(*task, task->final_stage());
    for (std::size_t first = 0; first < n; first += batch) {
      const std::size_t count = std::min(batch, n - first);
      sheet.add_batch(items.batch.input.range(first, count), items.batch.target.range(first, count),
                      output.range(first, count));
    }
    const Score score = sheet.score();
    EXPECT_EQ(score.items, expected.items);
    EXPECT_EQ(score.loss.mean, expected.loss.mean);
    EXPECT_EQ(score.loss.sem, expected.loss.sem);
    EXPECT_EQ(score.metrics[0].mean, expected.metrics[0].mean);
    for (std::size_t p = 0; p < 5; ++p) {
      EXPECT_EQ(score.positions[p].mean, expected.positions[p].mean);
      EXPECT_EQ(score.positions[p].sem, expected.positions[p].sem);
    }
  }
  set_threads(threads_before);
}

}  // namespace headroom::score_test
