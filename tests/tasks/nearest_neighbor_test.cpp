#include "tasks/nearest_neighbor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tasks/item.h"

namespace headroom {
namespace {

double distance(View<const float, 2> a, std::size_t i, View<const float, 2> b, std::size_t j) {
  double sum = 0;
  for (std::size_t c = 0; c < a.dim(1); ++c) {
    sum += (double{a(i, c)} - double{b(j, c)}) * (double{a(i, c)} - double{b(j, c)});
  }
  return std::sqrt(sum);
}

// Every answer is a point of the set other than the asker, and no other point is farther (nearer)
// by more than rounding, found here by distances in double.
void expect_answers(const TaskConfig& config, int n_items) {
  const std::unique_ptr<Task> task = make_task(config);
  const bool farthest = config.query == QueryMode::kSelfFarthest;
  Items items(*task, 1);
  const View<const float, 2> x = items.input(), y = items.target();
  for (int item = 0; item < n_items; ++item) {
    sample_one(*task, static_cast<std::uint64_t>(item), items);
    for (std::size_t i = 0; i < x.dim(0); ++i) {
      double best = farthest ? -1 : 9;
      bool in_set = false;
      for (std::size_t j = 0; j < x.dim(0); ++j) {
        if (j == i) continue;
        const double apart = distance(x, i, x, j);
        best = farthest ? std::max(best, apart) : std::min(best, apart);
        in_set = in_set || distance(y, i, x, j) == 0;
      }
      ASSERT_TRUE(in_set) << "item " << item << ", point " << i;
      ASSERT_NEAR(distance(x, i, y, i), best, 2e-6) << "item " << item << ", point " << i;
    }
  }
}

TEST(NearestNeighbor, AnswersAgreeWithBruteForce) {
  for (const PointsFrom from :
       {PointsFrom::kSphere, PointsFrom::kOrthonormal, PointsFrom::kAntipodal}) {
    for (const QueryMode query : {QueryMode::kSelfFarthest, QueryMode::kSelfNearest}) {
      expect_answers(retrieval(16, 16, from, query), 50);
      expect_answers(retrieval(7, 5, from, query), 50);
      expect_answers(retrieval(67, 9, from, query), 10);
    }
  }
  expect_answers(retrieval(2, 40), 50);
  expect_answers(retrieval(3, 2, PointsFrom::kSphere, QueryMode::kSelfNearest), 50);
}

TEST(NearestNeighbor, ShapesCountTheMirroredPoints) {
  const TaskShape plain = make_task(retrieval(6, 4))->shape();
  EXPECT_EQ(plain.tokens, 4u);
  EXPECT_EQ(plain.predictions, 4u);
  EXPECT_EQ(plain.input_dim, 6u);
  EXPECT_EQ(plain.output_dim, 6u);
  EXPECT_EQ(plain.token_stride, 1u);
  const TaskShape doubled = make_task(retrieval(6, 4, PointsFrom::kAntipodal))->shape();
  EXPECT_EQ(doubled.tokens, 8u);
  EXPECT_EQ(doubled.predictions, 8u);
}

TEST(NearestNeighbor, OfAnAntipodalSetTheFarthestIsTheMirrorImage) {
  const std::unique_ptr<Task> task = make_task(retrieval(8, 5, PointsFrom::kAntipodal));
  Items items(*task, 1);
  for (std::uint64_t item = 0; item < 100; ++item) {
    sample_one(*task, item, items);
    for (std::size_t i = 0; i < 10; ++i) {
      for (std::size_t c = 0; c < 8; ++c) {
        ASSERT_EQ(items.target()(i, c), -items.input()(i, c));
        ASSERT_EQ(items.input()((i + 5) % 10, c), -items.input()(i, c));
      }
    }
  }
}

TEST(NearestNeighbor, TiesGoToTheEarlierAndALonePointAnswersItself) {
  float x[] = {1, 0, 0, 1, 0, -1}, target[6];
  answer_self_queries(QueryMode::kSelfFarthest, View<const float, 2>(x, {3, 2}),
                      View<float, 2>(target, {3, 2}));
  EXPECT_EQ(target[0], 0);  // both others at a right angle: the earlier, (0, 1)
  EXPECT_EQ(target[1], 1);
  answer_self_queries(QueryMode::kSelfNearest, View<const float, 2>(x, {1, 2}),
                      View<float, 2>(target, {1, 2}));
  EXPECT_EQ(target[0], 1);
  EXPECT_EQ(target[1], 0);
}

TEST(NearestNeighbor, AccuracyCountsPredictionsNearestToTheWantedPoint) {
  const std::unique_ptr<Task> task = make_task(retrieval(2, 4));
  ASSERT_EQ(task->metric_names(), std::vector<std::string>{"accuracy"});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  float x[] = {1, 0, 0, 1, -1, 0, 0, -1};
  float target[] = {-1, 0, 0, -1, 1, 0, 0, 1};
  // Right and far off; wrong; right; its own point, which is wrong.
  float output[] = {-9, 1, 0.5f, 0.4f, 0.1f, 0.05f, 0, -1};
  const auto accuracy = [&] {
    double value = -1;
    const std::array<std::size_t, 2> dims{4, 2};
    task->metrics(task->final_stage(), {x, dims}, {target, dims}, {output, dims}, {&value, 1});
    return value;
  };
  EXPECT_EQ(accuracy(), 0.5);
  output[0] = nan;
  EXPECT_EQ(accuracy(), 0.25);
  output[4] = inf;
  EXPECT_EQ(accuracy(), 0);
}

TEST(NearestNeighbor, HasNoPositionsAndNoFurtherColumns) {
  const std::unique_ptr<Task> task = make_task(retrieval(4, 4));
  EXPECT_EQ(task->position_scale(), 0);
  EXPECT_TRUE(task->train_columns().empty());
  EXPECT_TRUE(task->train_values(task->final_stage()).empty());
  EXPECT_EQ(task->final_stage(), (Stage{4, 4}));
}

}  // namespace
}  // namespace headroom
