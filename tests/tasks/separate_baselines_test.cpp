// Baselines of separate queries against values worked out by hand. With m = E <y, answer>, N points
// of a sphere around 0 and E <sum of the points, answer> = s, the best a y + b sum has a = m,
// b = s / N and the loss 1 - m^2 - s^2 / N.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "tasks/baseline_scores.h"

namespace headroom::separate_baselines_test {

constexpr PointsFrom kSphere = PointsFrom::kSphere, kOrthonormal = PointsFrom::kOrthonormal,
                     kAntipodal = PointsFrom::kAntipodal;

void expect_best_linear(const TaskConfig& config, double loss) {
  const Mean measured =
      score_of(evaluate(config, 4000, {"best_linear_map"}), "best_linear_map").loss;
  EXPECT_NEAR(measured.mean, loss, 5 * measured.sem + 1e-10);
  EXPECT_LT(measured.sem, .005);
}

TEST(SeparateBaselines, TheBestLinearMapHasTheLossWorkedOutByHand) {
  // Two orthonormal points: m = E |u_1| / sqrt(2), u uniform on the sphere; s = 1.
  const double d = 5;
  const double u = std::tgamma(d / 2) / (std::sqrt(std::numbers::pi) * std::tgamma((d + 1) / 2));
  expect_best_linear(separate(5, 2, 8, kOrthonormal), 1 - u * u / 2 - 1.0 / 2);
  // Two independent points in three dimensions: <x_i, y> uniform on (-1, 1), m = 1/3, s = 1.
  expect_best_linear(separate(3, 2, 8, kSphere), 1 - 1.0 / 9 - 1.0 / 2);
  // x and -x: the sum is 0; m = E |<x, y>| = 1/2.
  expect_best_linear(separate(3, 1, 8, kAntipodal), 1 - 1.0 / 4);
  // A single point is the answer itself.
  expect_best_linear(separate(4, 1, 3, kSphere), 0);
}

// At the least-squares solution the residual is orthogonal to the query and to the sum, also where
// the answers lean against the sum.
TEST(SeparateBaselines, TheBestLinearMapIsAMinimum) {
  const std::unique_ptr<Task> task = make_task(separate(3, 6, 2));
  const std::unique_ptr<Baseline> best = baseline(*task, "best_linear_map");
  Items items(*task, 1);
  std::vector<float> output(2 * 3);
  double fitted = 0, own = 0, shared = 0;
  for (std::size_t item = 0; item < 4000; ++item) {
    sample_one(*task, item, items);
    best->predict(item, items.input(), items.query(), {output.data(), {2, 3}});
    for (std::size_t p = 0; p < 2; ++p) {
      for (std::size_t c = 0; c < 3; ++c) {
        const double residual = double{output[p * 3 + c]} - double{items.target()(p, c)};
        double sum = 0;
        for (std::size_t j = 0; j < 6; ++j) sum += double{items.input()(j, c)};
        fitted += residual * residual;
        own += residual * double{items.query()(p, c)};
        shared += residual * sum;
      }
    }
  }
  EXPECT_GT(fitted, 0);
  EXPECT_LT(std::abs(own), .03 * fitted);
  EXPECT_LT(std::abs(shared), .1 * fitted);
}

TEST(SeparateBaselines, ZeroScoresOneAndExactIsExact) {
  for (const PointsFrom from : {kSphere, kOrthonormal, kAntipodal}) {
    const auto scores = evaluate(separate(10, 6, 4, from), 300);
    EXPECT_NEAR(score_of(scores, "zero").loss.mean, 1, 1e-6);
    EXPECT_EQ(score_of(scores, "exact").loss.mean, 0);
    EXPECT_EQ(score_of(scores, "exact").metrics[0].mean, 1);
  }
}

TEST(SeparateBaselines, ChanceIsAnyPointWithEqualProbability) {
  const std::unique_ptr<Task> task = make_task(separate(6, 5, 3));
  const std::unique_ptr<Baseline> chance = baseline(*task, "chance");
  Items items(*task, 1);
  sample_one(*task, 0, items);
  std::vector<std::vector<Sample>> hits(3, std::vector<Sample>(5));
  std::vector<float> output(18);
  for (std::size_t item = 0; item < 4000; ++item) {
    chance->predict(item, items.input(), items.query(), {output.data(), {3, 6}});
    for (std::size_t p = 0; p < 3; ++p) {
      for (std::size_t j = 0; j < 5; ++j) {
        const float* x = items.input().data + j * 6;
        hits[p][j].add(std::equal(x, x + 6, output.data() + p * 6) ? 1 : 0);
      }
    }
  }
  for (const auto& of_query : hits) {
    for (const Sample& of_point : of_query) EXPECT_LT(of_point.sigmas_from(0.2), 5);
  }
  // Two unequal orthonormal points are 2 apart: loss 2 (1 - 1/N), accuracy 1/N.
  const Score score =
      score_of(evaluate(separate(8, 5, 4, kOrthonormal), 2000, {"chance"}), "chance");
  EXPECT_NEAR(score.loss.mean, 2 * (1 - 0.2), 5 * score.loss.sem);
  EXPECT_NEAR(score.metrics[0].mean, 0.2, 5 * score.metrics[0].sem);
}

}  // namespace headroom::separate_baselines_test
