#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/expect_error.h"
#include "tasks/baseline_scores.h"
#include "tasks/nearest_neighbor.h"

namespace headroom::nearest_minus_farthest_test {

TaskConfig difference(std::size_t dim, std::size_t points, std::size_t queries,
                      PointsFrom from = PointsFrom::kSphere) {
  TaskConfig config = retrieval(dim, points, from);
  config.type = TaskType::kNearestMinusFarthest;
  config.queries = queries;
  return config;
}

const PointsFrom kEverywhere[] = {PointsFrom::kSphere, PointsFrom::kOrthonormal,
                                  PointsFrom::kAntipodal};

double apart(View<const float, 2> a, std::size_t i, View<const float, 2> b, std::size_t j) {
  double sum = 0;
  for (std::size_t c = 0; c < a.dim(1); ++c)
    sum += (double{a(i, c)} - double{b(j, c)}) * (double{a(i, c)} - double{b(j, c)});
  return sum;
}

// The pair of points with the least and the largest distance in double; no point but they.
TEST(NearestMinusFarthest, AnswersAgreeWithBruteForce) {
  for (const PointsFrom from : kEverywhere) {
    const TaskConfig config = difference(9, 7, 5, from);
    const std::unique_ptr<Task> task = make_task(config);
    const double scale = difference_scale(config);
    Items items(*task, 1);
    const View<const float, 2> x = items.input(), y = items.query();
    for (std::uint64_t item = 0; item < 100; ++item) {
      sample_one(*task, item, items);
      for (std::size_t p = 0; p < 5; ++p) {
        std::size_t near = 0, far = 0;
        for (std::size_t j = 1; j < x.dim(0); ++j) {
          if (apart(x, j, y, p) < apart(x, near, y, p)) near = j;
          if (apart(x, j, y, p) > apart(x, far, y, p)) far = j;
        }
        for (std::size_t c = 0; c < 9; ++c)
          ASSERT_NEAR(items.target()(p, c), scale * (double{x(near, c)} - double{x(far, c)}), 1e-6)
              << item << " " << p;
      }
    }
  }
}

TEST(NearestMinusFarthest, HasThePointsAndQueriesOfNearestNeighbor) {
  for (const PointsFrom from : kEverywhere) {
    const std::unique_ptr<Task> one = make_task(difference(6, 4, 3, from)),
                                other = make_task(separate(6, 4, 3, from));
    Items a(*one, 1), b(*other, 1);
    sample_one(*one, 5, a);
    sample_one(*other, 5, b);
    EXPECT_TRUE(std::ranges::equal(a.input().flat(), b.input().flat()));
    EXPECT_TRUE(std::ranges::equal(a.query().flat(), b.query().flat()));
  }
}

TEST(NearestMinusFarthest, TheZeroPredictorScoresOne) {
  struct Set {
    std::size_t dim, points;
    PointsFrom from = PointsFrom::kSphere;
  };
  for (const Set& set :
       {Set{16, 16}, Set{2, 2}, Set{2, 3}, Set{3, 40}, Set{64, 5}, Set{5, 2}, Set{16, 300},
        Set{6, 4, PointsFrom::kOrthonormal}, Set{6, 4, PointsFrom::kAntipodal}}) {
    const auto scores = evaluate(difference(set.dim, set.points, 8, set.from), 2000);
    const Mean zero = score_of(scores, "zero").loss;
    EXPECT_NEAR(zero.mean, 1, 4 * zero.sem + 1e-5) << set.dim << " " << set.points;
    EXPECT_LT(zero.sem, .02);
    EXPECT_EQ(score_of(scores, "exact").loss.mean, 0);
  }
  // Two independent points: E <x_1, x_2> = 0.
  EXPECT_NEAR(difference_scale(difference(7, 2, 1)), 1 / std::sqrt(2.0), 1e-6);
}

// By symmetry b = 0 and a = E <y, answer>: the loss is 1 - a^2. On two orthonormal points
// <y, x_1 - x_2> / sqrt(2) is a coordinate of y in absolute value.
TEST(NearestMinusFarthest, TheBestLinearMapHasTheLossWorkedOutByHand) {
  const double d = 5;
  const double u = std::tgamma(d / 2) / (std::sqrt(3.14159265358979) * std::tgamma((d + 1) / 2));
  const Mean loss =
      score_of(evaluate(difference(5, 2, 8, PointsFrom::kOrthonormal), 4000, {"best_linear_map"}),
               "best_linear_map")
          .loss;
  EXPECT_NEAR(loss.mean, 1 - u * u, 5 * loss.sem);
  EXPECT_LT(loss.sem, .01);
}

TEST(NearestMinusFarthest, ImpossibleSetsAreRefused) {
  const auto refuse = [](const TaskConfig& config, std::initializer_list<std::string> says) {
    expect_error([&] { validate(config); }, says);
  };
  refuse(difference(4, 1, 2), {"task.points = 1", "nearest_minus_farthest"});
  refuse(difference(4, 1, 2, PointsFrom::kOrthonormal), {"task.points = 1"});
  refuse(difference(1, 4, 2), {"task.dim = 1", "nearest_minus_farthest"});
  refuse(difference(4, 5, 2, PointsFrom::kOrthonormal), {"orthonormal"});
  validate(difference(4, 1, 2, PointsFrom::kAntipodal));
  EXPECT_EQ(query_tokens(difference(4, 2, 7)), 7u);
}

}  // namespace headroom::nearest_minus_farthest_test
