#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/expect_error.h"
#include "tasks/baseline_scores.h"

namespace headroom::pattern_fit_test {

TaskConfig pattern(std::size_t dim, std::size_t points, std::uint64_t instance = 0,
                   PointsFrom from = PointsFrom::kOrthonormal) {
  TaskConfig config;
  config.type = TaskType::kPatternFit;
  config.dim = dim;
  config.points = points;
  config.points_from = from;
  config.instance = instance;
  return config;
}

// P, read off the answers: with orthonormal tokens P_ij = <y_i, x_j>.
std::vector<double> pattern_of(const Items& items) {
  const View<const float, 2> x = items.input(), y = items.target();
  const std::size_t n = x.dim(0);
  std::vector<double> p(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t c = 0; c < x.dim(1); ++c) p[i * n + j] += double{y(i, c)} * double{x(j, c)};
  return p;
}

TEST(PatternFit, EveryItemIsTheOneDraw) {
  for (const PointsFrom from : {PointsFrom::kSphere, PointsFrom::kOrthonormal}) {
    const std::unique_ptr<Task> task = make_task(pattern(6, 4, 3, from));
    Items a(*task, 1), b(*task, 1);
    sample_one(*task, 0, a, 1);
    sample_one(*task, 9, b, 7);
    EXPECT_EQ(a.memory, b.memory);
    const std::unique_ptr<Task> other = make_task(pattern(6, 4, 4, from));
    sample_one(*other, 0, b, 1);
    EXPECT_NE(a.memory, b.memory);
  }
}

// Rows uniform on the probability vectors of n entries: mean 1/n, variance (n-1) / (n^2 (n+1)).
TEST(PatternFit, RowsAreUniformProbabilityVectors) {
  constexpr std::size_t kPoints = 4;
  Sample first, square, product;
  for (std::uint64_t instance = 0; instance < 1500; ++instance) {
    const std::unique_ptr<Task> task = make_task(pattern(5, kPoints, instance));
    Items items(*task, 1);
    sample_one(*task, 0, items);
    const std::vector<double> p = pattern_of(items);
    for (std::size_t i = 0; i < kPoints; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < kPoints; ++j) {
        ASSERT_GT(p[i * kPoints + j], -1e-6);
        sum += p[i * kPoints + j];
      }
      ASSERT_NEAR(sum, 1, 1e-5);
    }
    first.add(p[0]);
    square.add(p[7] * p[7]);
    product.add(p[0] * p[4]);  // of two rows
  }
  EXPECT_LT(first.sigmas_from(1. / 4), 5);
  EXPECT_LT(square.sigmas_from(2. / 20), 5);
  EXPECT_LT(product.sigmas_from(1. / 16), 5);
}

TEST(PatternFit, TheDivergenceIsThatOfTheWeightsInTheOutput) {
  for (const PointsFrom from : {PointsFrom::kSphere, PointsFrom::kOrthonormal}) {
    const std::unique_ptr<Task> task = make_task(pattern(7, 5, 2, from));
    ASSERT_EQ(task->metric_names(), std::vector<std::string>{"kl"});
    Items items(*task, 1);
    sample_one(*task, 0, items);
    const auto kl = [&](View<const float, 2> output) {
      double value = -1;
      task->metrics(task->final_stage(), items.input(), items.target(), output, {&value, 1});
      return value;
    };
    EXPECT_NEAR(kl(items.target()), 0, 1e-4);
  }
  const std::unique_ptr<Task> task = make_task(pattern(7, 5, 2));
  Items items(*task, 1);
  sample_one(*task, 0, items);
  const std::vector<double> p = pattern_of(items);
  double wanted = 0;
  for (const double share : p) wanted += share * std::log(std::max(share, 1e-30) * 5) / 5;
  const auto scores = evaluate(pattern(7, 5, 2), 2);
  EXPECT_NEAR(score_of(scores, "uniform").metrics[0].mean, wanted, 1e-4);
  double loss = 0;
  for (const double share : p) loss += (share - 0.2) * (share - 0.2) / 5;
  EXPECT_NEAR(score_of(scores, "uniform").loss.mean, loss, 1e-5);
}

TEST(PatternFit, DependentTokensAreRefused) {
  expect_error([] { validate(pattern(4, 5)); }, {"task.points = 5", "task.dim = 4"});
  expect_error([] { validate(pattern(8, 4, 0, PointsFrom::kAntipodal)); }, {"antipodal"});
  validate(pattern(4, 4));
}

}  // namespace headroom::pattern_fit_test
