// Ridge, lasso and gradient descent against what defines them.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <vector>

#include "baselines/gradient_descent.h"
#include "core/parallel.h"
#include "tasks/pairs.h"
#include "tasks/prompts.h"

namespace headroom::linear_baselines_test {

struct Examples {
  Eigen::MatrixXd x;
  Eigen::VectorXd y, asked;
};

Examples examples_of(const HandPrompt& prompt, std::size_t k) {
  const auto n = static_cast<Eigen::Index>(k), d = static_cast<Eigen::Index>(prompt.d);
  Examples e{Eigen::MatrixXd(n, d), Eigen::VectorXd(n), Eigen::VectorXd(d)};
  for (Eigen::Index c = 0; c < d; ++c) {
    const auto col = static_cast<std::size_t>(c);
    for (Eigen::Index i = 0; i < n; ++i) e.x(i, c) = prompt.x(static_cast<std::size_t>(i), col);
    e.asked(c) = prompt.x(k, col);
  }
  for (Eigen::Index i = 0; i < n; ++i) e.y(i) = prompt.y(static_cast<std::size_t>(i));
  return e;
}

TEST(Ridge, SolvesTheNormalEquations) {
  const HandPrompt prompt = random_prompt(14, 5, 1, .3);
  for (const double lambda : {0.25, 3.0}) {
    const std::vector<float> y = prompt.predict(lambda == 3 ? "ridge_3" : "ridge_0.25");
    EXPECT_EQ(y[0], 0);
    for (std::size_t k = 1; k < 14; ++k) {
      const Examples e = examples_of(prompt, k);
      const Eigen::MatrixXd a = e.x.transpose() * e.x + lambda * Eigen::MatrixXd::Identity(5, 5);
      const Eigen::VectorXd w = fitted(a, e.x.transpose() * e.y);
      EXPECT_NEAR(y[k], w.dot(e.asked), 1e-5) << k;
    }
  }
}

// lambda -> 0 is least squares of least norm, before and after the examples determine w.
TEST(Ridge, BecomesLeastSquares) {
  for (std::uint64_t item = 0; item < 20; ++item) {
    const HandPrompt prompt = random_prompt(12, 5, item, .1);
    const std::vector<float> ridge = prompt.predict("ridge_1e-8"),
                             ols = prompt.predict("least_squares"),
                             coarse = prompt.predict("ridge_1");
    double off = 0;
    for (std::size_t k = 0; k < 12; ++k) {
      EXPECT_NEAR(ridge[k], ols[k], 1e-3 * (1 + std::abs(ols[k]))) << item << " " << k;
      off += std::abs(coarse[k] - ols[k]);
    }
    EXPECT_GT(off, .1);
  }
}

// The posterior mean errs least: below both neighbours and least squares, under noise; after k
// examples its error is sigma^2 (1 + E tr (X^T X + sigma^2 I)^-1).
TEST(Ridge, TheOptimalLambdaIsTheVarianceOfTheNoise) {
  const TaskConfig config = regression(4, 9, 1.5);
  const auto scores = *evaluate_baselines(
      *make_task(config), 0, 6000,
      {.names = {"ridge_optimal", "ridge_2.25", "ridge_1", "ridge_5", "least_squares"}});
  const Score best = score_of(scores, "ridge_optimal");
  EXPECT_EQ(best.loss.mean, score_of(scores, "ridge_2.25").loss.mean);
  for (const char* other : {"ridge_1", "ridge_5", "least_squares"})
    EXPECT_LT(best.loss.mean, score_of(scores, other).loss.mean) << other;
  const std::size_t k = 6;
  Sample expected;
  for (std::uint64_t item = 0; item < 3000; ++item) {
    const Examples e = examples_of(random_prompt(9, 4, item), k);
    const Eigen::MatrixXd a = e.x.transpose() * e.x + 2.25 * Eigen::MatrixXd::Identity(4, 4);
    double trace = 0;  // of the inverse
    for (Eigen::Index i = 0; i < 4; ++i) trace += fitted(a, Eigen::VectorXd::Unit(4, i))(i);
    expected.add(2.25 * (1 + trace) / 4);
  }
  EXPECT_NEAR(best.positions[k].mean, expected.mean(), 5 * best.positions[k].sem);
  EXPECT_LT(best.positions[k].sem, .03 * expected.mean());
}

TEST(Ridge, WithoutNoiseTheOptimumIsLeastSquares) {
  const HandPrompt prompt = random_prompt(9, 4, 2);
  EXPECT_EQ(prompt.predict("ridge_optimal"), prompt.predict("least_squares"));
}

// The conditions of the optimum, from predictions alone: prompts that ask for the axes show w.
TEST(Lasso, MeetsTheConditionsOfItsOptimum) {
  const std::size_t d = 5, k = 8;
  std::size_t zeros = 0, others = 0;
  for (std::uint64_t item = 0; item < 12; ++item) {
    const HandPrompt drawn = random_prompt(k, d, item, .5);
    for (const auto& [name, alpha] :
         {std::pair{"lasso_1", 1.0}, {"lasso_0.1", .1}, {"lasso_0.01", .01}}) {
      Eigen::VectorXd w(d);
      for (std::size_t axis = 0; axis < d; ++axis) {
        const HandPrompt asked(
            k + 1, d,
            [&](std::size_t i, std::size_t c) {
              return i < k ? drawn.x(i, c) : c == axis ? 1.0f : 0.0f;
            },
            [&](std::size_t i) { return i < k ? drawn.y(i) : 0.0f; });
        w(static_cast<Eigen::Index>(axis)) = asked.predict(name)[k];
      }
      Eigen::MatrixXd x(k, d);
      Eigen::VectorXd y(k);
      for (std::size_t i = 0; i < k; ++i) {
        for (std::size_t c = 0; c < d; ++c)
          x(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(c)) = drawn.x(i, c);
        y(static_cast<Eigen::Index>(i)) = drawn.y(i);
      }
      const Eigen::VectorXd slope = x.transpose() * (y - x * w) / static_cast<double>(k);
      for (Eigen::Index j = 0; j < slope.size(); ++j) {
        if (w(j) == 0) {
          EXPECT_LE(std::abs(slope(j)), alpha + 1e-5) << name << " " << item << " " << j;
          ++zeros;
        } else {
          EXPECT_NEAR(slope(j), std::copysign(alpha, w(j)), 1e-5) << name << " " << item;
          ++others;
        }
      }
    }
  }
  EXPECT_GT(zeros, 20u);
  EXPECT_GT(others, 60u);
}

TEST(Lasso, SoftThresholdsOrthogonalExamples) {
  // x_i = 2 e_i, so that G = 4 I / k: w_j = shrunk(2 y_j / k, alpha) k / 4.
  const HandPrompt prompt(
      4, 3, [](std::size_t i, std::size_t c) { return i == 3   ? 1.0f
                                                      : i == c ? 2.0f
                                                               : 0.0f; },
      [](std::size_t i) {
        return std::vector<float>{3, -.03f, -6, 0}[i];
      });
  // 2 y / 3 = 2, -.02, -4; alpha = .1: 1.9, 0, -3.9 times 3 / 4.
  EXPECT_NEAR(prompt.predict("lasso_0.1")[3], (1.9 - 3.9) * .75, 1e-6);
}

// In one dimension w_T = (1 - (1 - rate g)^T) w_ols with g = sum x^2 / k.
TEST(GradientDescent, MatchesTheClosedFormInOneDimension) {
  ExampleSums sums(1);
  Eigen::VectorXd x(1);
  for (const auto& [value, y] : {std::pair{1.5, 2.0}, {-.5, 1.0}, {2.0, .3}}) {
    x(0) = value;
    sums.add(x, y);
  }
  const double g = (1.5 * 1.5 + .25 + 4) / 3, c = (3 - .5 + .6) / 3;
  for (const std::size_t steps : {1u, 2u, 7u, 20u}) {
    for (const double rate : {.05, .4, .9}) {
      const double expected = (1 - std::pow(1 - rate * g, static_cast<double>(steps))) * c / g;
      EXPECT_NEAR(gradient_descent(sums, steps, rate)(0), expected, 1e-9 * (1 + std::abs(expected)))
          << steps << " " << rate;
    }
  }
  EXPECT_EQ(gradient_descent(ExampleSums(1), 5, .1)(0), 0);
}

// One step's best rate is k / (k + d + 1) on Gaussian x: then the error falls to
// 1 - k / (k + d + 1).
TEST(GradientDescent, OneTunedStepReachesTheBestAveraging) {
  const std::size_t d = 6, n = 16;
  const auto scores = *evaluate_baselines(*make_task(regression(d, n)), 0, 6000,
                                          {.names = {"gradient_descent_1", "gradient_descent_5"}});
  const std::vector<Mean> one = score_of(scores, "gradient_descent_1").positions,
                          five = score_of(scores, "gradient_descent_5").positions;
  for (std::size_t k = 1; k < n; ++k) {
    const double examples = static_cast<double>(k);
    const double expected = 1 - examples / (examples + static_cast<double>(d) + 1);
    EXPECT_NEAR(one[k].mean, expected, 5 * one[k].sem + .01 * expected) << k;
    if (k < 3) continue;
    EXPECT_LT(five[k].mean, one[k].mean) << k;
  }
  EXPECT_EQ(one[0].mean, score_of(scores, "zero").positions[0].mean);
}

// No other rate does better on the stream it was tuned on, by brute force over prompts of it.
TEST(GradientDescent, TheTunedRateIsTheBest) {
  const std::unique_ptr<Task> task = make_task(regression(3, 7, .4));
  constexpr std::size_t kItems = 60, kSteps = 4;
  const int threads_before = threads();
  set_threads(1);
  const auto rates = tuned_rates(*task, 5, kSteps, kItems, {});
  set_threads(3);
  EXPECT_EQ(rates, tuned_rates(*task, 5, kSteps, kItems, {}));
  set_threads(threads_before);
  ASSERT_TRUE(rates);
  ASSERT_EQ(rates->size(), 7u);
  std::vector<std::pair<ExampleSums, Eigen::VectorXd>> seen;
  std::vector<double> wanted;
  const std::size_t k = 5;
  Items items(*task, 1);
  for (std::size_t item = 0; item < kItems; ++item) {
    Random random(5, Purpose::kBaseline, 2, item);
    task->sample(random, task->final_stage(), items.input(), {}, items.target());
    const Prompt prompt = read_prompt(items.input());
    ExampleSums sums(3);
    for (std::size_t i = 0; i < k; ++i) sums.add(x_of(prompt, i), prompt.y(i, 0));
    seen.emplace_back(sums, x_of(prompt, k));
    wanted.push_back(prompt.y(k, 0));
  }
  const auto error = [&](double rate) {
    double sum = 0;
    for (std::size_t i = 0; i < kItems; ++i) {
      const double off =
          gradient_descent(seen[i].first, kSteps, rate).dot(seen[i].second) - wanted[i];
      sum += off * off;
    }
    return sum;
  };
  const double least = error((*rates)[k]);
  for (int i = 1; i < 400; ++i) EXPECT_LE(least, error(.005 * i) * (1 + 1e-9)) << .005 * i;
  EXPECT_FALSE(tuned_rates(*task, 5, kSteps, kItems, [] { return true; }));
}

}  // namespace headroom::linear_baselines_test
