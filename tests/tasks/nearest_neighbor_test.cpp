#include "tasks/nearest_neighbor.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "tasks/item.h"

namespace headroom::nearest_neighbor_test {

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

// Every answer is a point of the set, and none is nearer to the query by more than rounding.
void expect_separate_answers(const TaskConfig& config, int n_items) {
  const std::unique_ptr<Task> task = make_task(config);
  Items items(*task, 1);
  const View<const float, 2> x = items.input(), query = items.query(), y = items.target();
  for (int item = 0; item < n_items; ++item) {
    sample_one(*task, static_cast<std::uint64_t>(item), items);
    for (std::size_t p = 0; p < query.dim(0); ++p) {
      double best = 9;
      bool in_set = false;
      for (std::size_t j = 0; j < x.dim(0); ++j) {
        best = std::min(best, distance(query, p, x, j));
        in_set = in_set || distance(y, p, x, j) == 0;
      }
      ASSERT_TRUE(in_set) << "item " << item << ", query " << p;
      ASSERT_NEAR(distance(query, p, y, p), best, 2e-6) << "item " << item << ", query " << p;
    }
  }
}

TEST(NearestNeighbor, SeparateQueriesAgreeWithBruteForce) {
  for (const PointsFrom from :
       {PointsFrom::kSphere, PointsFrom::kOrthonormal, PointsFrom::kAntipodal}) {
    expect_separate_answers(separate(16, 16, 5, from), 50);
    expect_separate_answers(separate(7, 5, 20, from), 50);
  }
  expect_separate_answers(separate(67, 9, 3), 10);
  expect_separate_answers(separate(2, 40, 1), 50);
  expect_separate_answers(separate(3, 1, 2), 10);
}

// Uniform, independent of each other and of the points: unit norm, moments 1/d and 3 / (d (d + 2)),
// inner products of mean 0 and variance 1/d.
TEST(NearestNeighbor, SeparateQueriesAreUniformAndIndependentOfThePoints) {
  for (const PointsFrom from : {PointsFrom::kSphere, PointsFrom::kOrthonormal}) {
    const std::size_t d = 5;
    const std::unique_ptr<Task> task = make_task(separate(d, 3, 2, from));
    Items items(*task, 1);
    const View<const float, 2> x = items.input(), y = items.query();
    const auto product = [&](View<const float, 2> a, std::size_t i, std::size_t j) {
      double sum = 0;
      for (std::size_t c = 0; c < d; ++c) sum += double{a(i, c)} * double{y(j, c)};
      return sum;
    };
    Sample first, fourth, pair, pair_square, to_point, to_point_square;
    for (std::uint64_t item = 0; item < 20000; ++item) {
      sample_one(*task, item, items);
      ASSERT_NEAR(product(y, 0, 0), 1, 1e-6);
      ASSERT_NEAR(product(y, 1, 1), 1, 1e-6);
      const double a = y(0, 0), z = y(1, d - 1), p = product(y, 0, 1), q = product(x, 2, 1);
      first.add(a);
      fourth.add(z * z * z * z);
      pair.add(p);
      pair_square.add(p * p);
      to_point.add(q);
      to_point_square.add(q * q);
    }
    EXPECT_LT(first.sigmas_from(0), 5);
    EXPECT_LT(fourth.sigmas_from(3.0 / (5 * 7)), 5);
    EXPECT_LT(pair.sigmas_from(0), 5);
    EXPECT_LT(pair_square.sigmas_from(1.0 / 5), 5);
    EXPECT_LT(to_point.sigmas_from(0), 5);
    EXPECT_LT(to_point_square.sigmas_from(1.0 / 5), 5);
  }
}

TEST(NearestNeighbor, WhoAsksDoesNotChangeThePoints) {
  for (const PointsFrom from :
       {PointsFrom::kSphere, PointsFrom::kOrthonormal, PointsFrom::kAntipodal}) {
    const std::unique_ptr<Task> self = make_task(retrieval(6, 4, from));
    const std::unique_ptr<Task> other = make_task(separate(6, 4, 3, from));
    Items a(*self, 1), b(*other, 1);
    for (std::uint64_t item = 0; item < 20; ++item) {
      sample_one(*self, item, a);
      sample_one(*other, item, b);
      const auto x = a.input().flat(), y = b.input().flat();
      ASSERT_TRUE(std::equal(x.begin(), x.end(), y.begin(), y.end()));
    }
  }
}

// Values drawn before there were separate queries: a run of an earlier headroom stays repeatable.
TEST(NearestNeighbor, ItemsAreThoseOfEarlierVersions) {
  const auto expect = [](const TaskConfig& config, std::array<float, 4> values) {
    const std::unique_ptr<Task> task = make_task(config);
    Items items(*task, 1);
    sample_one(*task, 7, items);
    EXPECT_NEAR(items.input()(0, 0), values[0], 1e-6);
    EXPECT_NEAR(items.input()(3, 4), values[1], 1e-6);
    EXPECT_NEAR(items.target()(0, 0), values[2], 1e-6);
    EXPECT_NEAR(items.target()(2, 1), values[3], 1e-6);
  };
  const PointsFrom sphere = PointsFrom::kSphere, antipodal = PointsFrom::kAntipodal;
  const QueryMode farthest = QueryMode::kSelfFarthest, nearest = QueryMode::kSelfNearest;
  expect(retrieval(5, 4, sphere, farthest), {.335238159f, .569541931f, -.335662574f, .379754126f});
  expect(retrieval(5, 4, sphere, nearest), {.335238159f, .569541931f, -.114240453f, -.0207565129f});
  expect(retrieval(5, 4, antipodal, nearest),
         {.335238159f, .569541931f, -.114240453f, -.379754126f});
  expect(separate(5, 4, 3), {.335238159f, .569541931f, -.335662574f, .379754126f});
}

TEST(NearestNeighbor, OfEqualAnswersToAQueryTheEarlierCounts) {
  float x[] = {0, 1, 1, 0, 1, 0}, y[] = {3, 0, -1, -2, 0, 0.5f}, target[6];
  x[4] = 1, x[5] = -0.0f;  // the same point to a dot product, told apart by its sign
  answer_queries(View<const float, 2>(x, {3, 2}), View<const float, 2>(y, {3, 2}),
                 View<float, 2>(target, {3, 2}));
  EXPECT_EQ(target[0], 1);
  EXPECT_FALSE(std::signbit(target[1]));
  EXPECT_EQ(target[2], 1);  // <x, y>: -2, -1, -1
  EXPECT_FALSE(std::signbit(target[3]));
  EXPECT_EQ(target[4], 0);  // (0, 1) itself
  EXPECT_EQ(target[5], 1);
}

TEST(NearestNeighbor, SeparateQueriesHaveAPredictionEach) {
  const TaskShape shape = make_task(separate(6, 4, 3))->shape();
  EXPECT_EQ(shape.tokens, 4u);
  EXPECT_EQ(shape.queries, 3u);
  EXPECT_EQ(shape.predictions, 3u);
  EXPECT_EQ(shape.input_dim, 6u);
  EXPECT_EQ(shape.output_dim, 6u);
  EXPECT_EQ(shape.token_stride, 1u);
  EXPECT_EQ(make_task(separate(6, 4, 3, PointsFrom::kAntipodal))->shape().tokens, 8u);
  EXPECT_EQ(make_task(retrieval(6, 4, PointsFrom::kSphere, QueryMode::kSeparate))->shape().queries,
            16u);
}

TEST(NearestNeighbor, ShapesCountTheMirroredPoints) {
  const TaskShape plain = make_task(retrieval(6, 4))->shape();
  EXPECT_EQ(plain.tokens, 4u);
  EXPECT_EQ(plain.queries, 0u);
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

}  // namespace headroom::nearest_neighbor_test
