#include "tasks/inner_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/expect_error.h"
#include "tasks/baseline_scores.h"
#include "tasks/item.h"

namespace headroom::inner_product_test {

TaskConfig product(std::size_t dim, std::size_t points, double frequency) {
  TaskConfig config;
  config.type = TaskType::kInnerProduct;
  config.dim = dim;
  config.points = points;
  config.queries = 3;
  config.frequency = frequency;
  return config;
}

TEST(InnerProduct, AnswersAreTheFormula) {
  const std::unique_ptr<Task> task = make_task(product(5, 4, 3));
  const TaskShape shape = task->shape();
  EXPECT_EQ(shape.tokens, 4u);
  EXPECT_EQ(shape.queries, 3u);
  EXPECT_EQ(shape.predictions, 3u);
  EXPECT_EQ(shape.output_dim, 1u);
  Items items(*task, 1);
  for (std::uint64_t item = 0; item < 20; ++item) {
    sample_one(*task, item, items);
    for (std::size_t p = 0; p < 3; ++p) {
      double sum = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        double inner = 0, length = 0;
        for (std::size_t c = 0; c < 5; ++c) {
          inner += double{items.input()(i, c)} * double{items.query()(p, c)};
          length += double{items.input()(i, c)} * double{items.input()(i, c)};
        }
        EXPECT_NEAR(length, 1, 1e-5);
        sum += std::sin(3 * inner);
      }
      EXPECT_NEAR(items.target()(p, 0), sum / 2, 1e-5);
    }
  }
}

// E y = 0, E y^2 = (1 - E cos 2 a t) / 2, whatever the number of points; the queries and the points
// are independent of each other.
TEST(InnerProduct, FollowsItsDistribution) {
  for (const std::size_t points : {1, 5}) {
    for (const double a : {0.5, 4.0, 9.0}) {
      const std::unique_ptr<Task> task = make_task(product(6, points, a));
      Items items(*task, 1);
      Sample mean, square, crossed, inner;
      for (std::uint64_t item = 0; item < 3000; ++item) {
        sample_one(*task, item, items);
        const double y = items.target()(0, 0);
        mean.add(y);
        square.add(y * y);
        crossed.add(y * double{items.target()(1, 0)});
        inner.add(double{items.input()(0, 0)} * double{items.query()(0, 0)});
      }
      EXPECT_LT(mean.sigmas_from(0), 5);
      EXPECT_LT(square.sigmas_from((1 - mean_cosine(6, 2 * a)) / 2), 5) << points << " " << a;
      EXPECT_LT(crossed.sigmas_from(0), 5);
      EXPECT_LT(inner.sigmas_from(0), 5);
    }
  }
}

TEST(InnerProduct, MeanCosineIsTheBesselFunction) {
  for (const double a : {0.1, 1.0, 5.0, 16.0, 40.0, 1000.0}) {
    EXPECT_NEAR(mean_cosine(3, a), std::sin(a) / a, 1e-7) << a;  // t uniform on (-1, 1)
    EXPECT_NEAR(mean_cosine(2, a), std::cyl_bessel_j(0, a), 1e-7) << a;
    EXPECT_NEAR(mean_cosine(5, a), 3 * (std::sin(a) / a - std::cos(a)) / (a * a), 1e-7) << a;
  }
  EXPECT_NEAR(mean_cosine(40000, 200), std::exp(-.5), 1e-4);  // t nearly N(0, 1 / d)
  EXPECT_NEAR(mean_cosine(400, 100), std::exp(-12.5), 1e-5);
  EXPECT_EQ(mean_cosine(20000, 1000), 0);  // exp(-25)
}

// The share of E y^2 that the form leaves, and that no other factor leaves less.
TEST(InnerProduct, BaselinesAreZeroTheBestFormAndTheFormula) {
  const TaskConfig config = product(8, 3, 4);
  const std::vector<BaselineScore> scores = evaluate(config, 3000);
  ASSERT_EQ(scores.size(), 3u);
  EXPECT_EQ(score_of(scores, "exact").loss.mean, 0);
  const Score zero = score_of(scores, "zero"), form = score_of(scores, "best_bilinear_form");
  EXPECT_LT(std::abs(zero.metrics.at(0).mean - 1), 5 * zero.metrics.at(0).sem);
  const double square = (1 - mean_cosine(8, 8)) / 2, c = 4 * mean_cosine(10, 4);
  const double left = 1 - c * c / 8 / square;
  EXPECT_LT(std::abs(form.metrics.at(0).mean - left), 5 * form.metrics.at(0).sem);
  EXPECT_LT(left, .6);

  const std::unique_ptr<Task> task = make_task(config);
  Items items(*task, 1);
  double products = 0, squares = 0;
  for (std::uint64_t item = 0; item < 4000; ++item) {
    sample_one(*task, item, items);
    for (std::size_t p = 0; p < 3; ++p) {
      double t = 0;
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t e = 0; e < 8; ++e) t += items.input()(i, e) * items.query()(p, e);
      t /= std::sqrt(3.0);
      products += t * items.target()(p, 0);
      squares += t * t;
    }
  }
  EXPECT_NEAR(c, products / squares, .05);
  EXPECT_EQ(reference_baseline(TaskType::kInnerProduct)->name(), "zero");
}

TEST(InnerProduct, IsRefusedOnALine) {
  expect_error([] { validate(product(1, 2, 4)); }, {"task.dim = 1", "inner_product"});
  validate(product(2, 1, 1000));
}

}  // namespace headroom::inner_product_test
