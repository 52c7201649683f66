#include "tasks/points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tasks/item.h"

namespace headroom::points_test {

struct Points {
  std::vector<float> memory;
  View<float, 2> x;
  Points(std::size_t n, std::size_t d) : memory(n * d), x(memory.data(), {n, d}) {}
};

double product(View<const float, 2> x, std::size_t i, std::size_t j) {
  double sum = 0;
  for (std::size_t c = 0; c < x.dim(1); ++c) sum += double{x(i, c)} * double{x(j, c)};
  return sum;
}

TEST(Points, SumsAgreeWithPlainLoopsAtEveryLength) {
  std::vector<float> a(70), b(70);
  Random random(3, Purpose::kTest, 0, 0);
  random.fill_normal(a);
  random.fill_normal(b);
  for (std::size_t n = 0; n <= a.size(); ++n) {
    double products = 0, squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
      products += double{a[i]} * double{b[i]};
      squares += (double{a[i]} - double{b[i]}) * (double{a[i]} - double{b[i]});
    }
    EXPECT_NEAR(dot(a.data(), b.data(), n), products, 2e-5) << n;
    EXPECT_NEAR(squared_distance(a.data(), b.data(), n), squares, 1e-4) << n;
  }
}

// Uniform on the sphere: E x_c = 0, E x_c^2 = 1/d, E x_c^4 = 3 / (d (d + 2)), E x_0^2 x_1^2 = 1 /
// (d (d + 2)), and independent points have inner products of mean 0 and variance 1/d.
TEST(Points, SphereHasUnitNormAndTheMomentsOfTheUniformDistribution) {
  for (const std::size_t d : {2u, 5u, 16u}) {
    const double dd = static_cast<double>(d);
    Points points(2, d);
    Sample first, square, fourth, crossed, pair, pair_square;
    for (std::uint64_t item = 0; item < 20000; ++item) {
      Random random(5, Purpose::kTest, d, item);
      fill_sphere(random, points.x);
      const double a = points.x(0, 0), b = points.x(0, 1), p = product(points.x, 0, 1);
      ASSERT_NEAR(product(points.x, 0, 0), 1, 1e-6);
      ASSERT_NEAR(product(points.x, 1, 1), 1, 1e-6);
      first.add(a);
      square.add(a * a);
      fourth.add(a * a * a * a);
      crossed.add(a * a * b * b);
      pair.add(p);
      pair_square.add(p * p);
    }
    EXPECT_LT(first.sigmas_from(0), 5);
    EXPECT_LT(square.sigmas_from(1 / dd), 5);
    EXPECT_LT(fourth.sigmas_from(3 / (dd * (dd + 2))), 5);
    EXPECT_LT(crossed.sigmas_from(1 / (dd * (dd + 2))), 5);
    EXPECT_LT(pair.sigmas_from(0), 5);
    EXPECT_LT(pair_square.sigmas_from(1 / dd), 5);
  }
}

TEST(Points, OrthonormalSetsAreOrthonormal) {
  const std::size_t shapes[][2] = {{1, 1}, {1, 7}, {4, 4}, {5, 16}, {16, 16}, {64, 64}, {100, 128}};
  for (const auto& [n, d] : shapes) {
    Points points(n, d);
    for (std::uint64_t item = 0; item < 20; ++item) {
      Random random(6, Purpose::kTest, n, item);
      fill_orthonormal(random, points.x);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
          ASSERT_NEAR(product(points.x, i, j), i == j ? 1.0 : 0.0, 2e-6) << n << " " << d;
        }
      }
    }
  }
}

// Haar measure: every row is uniform on the sphere (the last too, and without a preferred sign),
// and E x_00^2 x_11^2 = (d + 1) / ((d - 1) d (d + 2)), E x_00 x_11 x_01 x_10 = -1 / ((d - 1) d (d +
// 2)).
TEST(Points, OrthonormalSetsFollowTheHaarMeasure) {
  const std::size_t d = 4;
  Points points(d, d);
  Sample first, last, last_fourth, diagonal, permuted, determinant_sign;
  for (std::uint64_t item = 0; item < 40000; ++item) {
    Random random(7, Purpose::kTest, 0, item);
    fill_orthonormal(random, points.x);
    const auto& x = points.x;
    const double a = x(0, 0), b = x(1, 1), c = x(0, 1), e = x(1, 0), z = x(d - 1, d - 1);
    first.add(a);
    last.add(z);
    last_fourth.add(z * z * z * z);
    diagonal.add(a * a * b * b);
    permuted.add(a * b * c * e);
    determinant_sign.add(a * b * z > 0 ? 1 : -1);
  }
  const double scale = 1.0 / (3 * 4 * 6);
  EXPECT_LT(first.sigmas_from(0), 5);
  EXPECT_LT(last.sigmas_from(0), 5);
  EXPECT_LT(last_fourth.sigmas_from(3.0 / (4 * 6)), 5);
  EXPECT_LT(diagonal.sigmas_from(5 * scale), 5);
  EXPECT_LT(permuted.sigmas_from(-scale), 5);
  EXPECT_LT(determinant_sign.sigmas_from(0), 5);
}

TEST(Points, MirrorNegatesTheFirstHalf) {
  Points points(4, 3);
  for (std::size_t e = 0; e < 6; ++e) points.memory[e] = static_cast<float>(e + 1);
  mirror(points.x);
  EXPECT_EQ(points.memory, (std::vector<float>{1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6}));
}

}  // namespace headroom::points_test
