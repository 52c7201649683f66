#include <gtest/gtest.h>

#include <vector>

#include "tasks/item.h"
#include "tasks/pairs.h"

namespace headroom::linear_regression_test {

TEST(LinearRegression, TokensAlternateAndAnswersArePadded) {
  const std::unique_ptr<Task> task = make_task(regression(3, 5));
  const TaskShape shape = task->shape();
  EXPECT_EQ(shape.tokens, 10u);
  EXPECT_EQ(shape.input_dim, 3u);
  EXPECT_EQ(shape.predictions, 5u);
  EXPECT_EQ(shape.output_dim, 1u);
  EXPECT_EQ(shape.token_stride, 2u);
  Items items(*task, 1);
  sample_one(*task, 0, items);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(items.input()(2 * i + 1, 0), items.target()(i, 0));
    EXPECT_EQ(items.input()(2 * i + 1, 1), 0);
    EXPECT_EQ(items.input()(2 * i + 1, 2), 0);
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NE(items.input()(2 * i, c), 0);
      for (std::size_t j = 0; j < i; ++j)
        EXPECT_NE(items.input()(2 * i, c), items.input()(2 * j, c));
    }
  }
}

// One w explains the whole prompt, and it and x are standard normal and independent.
TEST(LinearRegression, FollowsItsDistribution) {
  const std::unique_ptr<Task> task = make_task(regression(4, 6));
  Items items(*task, 1);
  Sample x, x_square, x_fourth, x_crossed, x_pair, w_mean, w_square, w_fourth, w_crossed, mixed,
      y_square;
  for (std::uint64_t item = 0; item < 10000; ++item) {
    sample_one(*task, item, items);
    const Pairs pairs(items.input());
    const Eigen::VectorXd w = pairs.fitted();
    ASSERT_LT((pairs.x * w - pairs.y).cwiseAbs().maxCoeff(), 1e-5);
    const double a = pairs.x(0, 0), b = pairs.x(0, 1), c = pairs.x(5, 0);
    x.add(a);
    x_square.add(a * a);
    x_fourth.add(a * a * a * a);
    x_crossed.add(a * b);
    x_pair.add(a * c);
    w_mean.add(w(1));
    w_square.add(w(1) * w(1));
    w_fourth.add(w(3) * w(3) * w(3) * w(3));
    w_crossed.add(w(0) * w(1));
    mixed.add(w(0) * a);
    y_square.add(pairs.y(2) * pairs.y(2));
  }
  EXPECT_LT(x.sigmas_from(0), 5);
  EXPECT_LT(x_square.sigmas_from(1), 5);
  EXPECT_LT(x_fourth.sigmas_from(3), 5);
  EXPECT_LT(x_crossed.sigmas_from(0), 5);
  EXPECT_LT(x_pair.sigmas_from(0), 5);
  EXPECT_LT(w_mean.sigmas_from(0), 5);
  EXPECT_LT(w_square.sigmas_from(1), 5);
  EXPECT_LT(w_fourth.sigmas_from(3), 5);
  EXPECT_LT(w_crossed.sigmas_from(0), 5);
  EXPECT_LT(mixed.sigmas_from(0), 5);
  EXPECT_LT(y_square.sigmas_from(4), 5);
}

TEST(LinearRegression, NoiseIsAddedToTheSameProblem) {
  const double sigma = 0.5;
  const std::unique_ptr<Task> clean = make_task(regression(3, 8)),
                              noisy = make_task(regression(3, 8, sigma));
  Items a(*clean, 1), b(*noisy, 1);
  Sample noise, square, fourth, serial;
  for (std::uint64_t item = 0; item < 5000; ++item) {
    sample_one(*clean, item, a);
    sample_one(*noisy, item, b);
    for (std::size_t i = 0; i < 8; ++i) {
      for (std::size_t c = 0; c < 3; ++c) ASSERT_EQ(a.input()(2 * i, c), b.input()(2 * i, c));
      ASSERT_EQ(b.input()(2 * i + 1, 0), b.target()(i, 0));
    }
    const double e = (double{b.target()(0, 0)} - double{a.target()(0, 0)}) / sigma;
    const double f = (double{b.target()(7, 0)} - double{a.target()(7, 0)}) / sigma;
    noise.add(e);
    square.add(e * e);
    fourth.add(f * f * f * f);
    serial.add(e * f);
  }
  EXPECT_LT(noise.sigmas_from(0), 5);
  EXPECT_LT(square.sigmas_from(1), 5);
  EXPECT_LT(fourth.sigmas_from(3), 5);
  EXPECT_LT(serial.sigmas_from(0), 5);
}

TaskConfig with_curriculum() {
  TaskConfig config = regression(6, 9);
  config.curriculum =
      CurriculumConfig{.dims = Ramp{.start = 2, .end = 6, .step = 1, .every = 10},
                       .points = Ramp{.start = 3, .end = 9, .step = 2, .every = 20}};
  return config;
}

TEST(LinearRegression, TheStageFollowsTheCurriculum) {
  const std::unique_ptr<Task> task = make_task(with_curriculum());
  EXPECT_EQ(task->stage(1), (Stage{2, 3}));
  EXPECT_EQ(task->stage(10), (Stage{2, 3}));
  EXPECT_EQ(task->stage(11), (Stage{3, 3}));
  EXPECT_EQ(task->stage(20), (Stage{3, 3}));
  EXPECT_EQ(task->stage(21), (Stage{4, 5}));
  EXPECT_EQ(task->stage(1000), (Stage{6, 9}));
  EXPECT_EQ(task->final_stage(), (Stage{6, 9}));
  EXPECT_EQ(task->shape().tokens, 18u);
  EXPECT_EQ(task->shape(task->stage(1)).tokens, 6u);
  EXPECT_EQ(task->train_columns(), (std::vector<std::string>{"dims", "points"}));
  EXPECT_EQ(task->train_values({4, 5}), (std::vector<double>{4, 5}));
  EXPECT_EQ(make_task(regression(6, 9))->stage(1), (Stage{6, 9}));
}

TEST(LinearRegression, AnEarlyStageZeroesCoordinatesAndShortensThePrompt) {
  const std::unique_ptr<Task> task = make_task(with_curriculum());
  const Stage early{2, 5};
  Items items(*task, early, 1);
  for (std::uint64_t item = 0; item < 50; ++item) {
    Random random(1, Purpose::kTest, 0, item);
    task->sample(random, early, items.input(), {}, items.target());
    const Pairs pairs(items.input());
    ASSERT_EQ(pairs.x.rows(), 5);
    EXPECT_EQ(pairs.x.rightCols(4).cwiseAbs().maxCoeff(), 0);
    EXPECT_GT(pairs.x.leftCols(2).cwiseAbs().minCoeff(), 0);
    const Eigen::VectorXd w = fitted(pairs.x.leftCols(2), pairs.y);
    EXPECT_LT((pairs.x.leftCols(2) * w - pairs.y).cwiseAbs().maxCoeff(), 1e-5);
  }
}

TEST(LinearRegression, ExcessLossIsTheLossOverThatOfLeastSquares) {
  float input[8] = {}, target[2] = {1, 2}, output[2] = {4, 2};
  const auto excess = [&](const TaskConfig& config, Stage stage) {
    double value = -1;
    const std::unique_ptr<Task> task = make_task(config);
    EXPECT_EQ(task->metric_names(), std::vector<std::string>{"excess_loss"});
    task->metrics(stage, {input, {4, 2}}, {target, {2, 1}}, {output, {2, 1}}, {&value, 1});
    return value;
  };
  // Squared errors 9 and 0: loss 4.5. Least squares: (2 + 1) / 2 in two dimensions, (1 + 0) / 2 in
  // one.
  EXPECT_DOUBLE_EQ(excess(regression(2, 2), {2, 2}), 4.5 / 1.5);
  EXPECT_DOUBLE_EQ(excess(regression(2, 2), {1, 2}), 4.5 / 0.5);
  EXPECT_DOUBLE_EQ(excess(regression(2, 2, 0.5), {2, 2}), 4.5 / 1.75);
}

}  // namespace headroom::linear_regression_test
