// Each against what defines its result.
#include "core/linear_algebra.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/rng.h"

namespace headroom::linear_algebra_test {

using Values = std::vector<double>;

struct Sized {
  std::size_t rows, cols;
  Values values;
  Sized(std::size_t n, std::size_t m) : rows(n), cols(m), values(n * m) {}
  double& operator()(std::size_t i, std::size_t j) { return values[i * cols + j]; }
  double operator()(std::size_t i, std::size_t j) const { return values[i * cols + j]; }
  Matrix<const double> view() const { return {values.data(), rows, cols, cols}; }
};

Sized normals(std::size_t n, std::size_t m, std::uint64_t item) {
  Random random(1, Purpose::kTest, 0, item);
  Sized a(n, m);
  for (double& v : a.values) v = random.normal();
  return a;
}

Sized product(const Sized& a, const Sized& b) {
  Sized c(a.rows, b.cols);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t k = 0; k < a.cols; ++k)
      for (std::size_t j = 0; j < b.cols; ++j) c(i, j) += a(i, k) * b(k, j);
  return c;
}

Sized transposed(const Sized& a) {
  Sized t(a.cols, a.rows);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < a.cols; ++j) t(j, i) = a(i, j);
  return t;
}

Values times(const Sized& a, const Values& x) {
  Values y(a.rows);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < a.cols; ++j) y[i] += a(i, j) * x[j];
  return y;
}

double largest(const Values& x) {
  double most = 0;
  for (const double value : x) most = std::max(most, std::abs(value));
  return most;
}

Values minus(Values x, const Values& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= y[i];
  return x;
}

double norm(const Values& x) {
  return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
}

struct Shape {
  std::size_t n, m, rank;
};
constexpr Shape kShapes[] = {{1, 1, 1},  {1, 6, 1}, {6, 1, 1},   {5, 5, 5},   {12, 4, 4},
                             {4, 12, 4}, {9, 9, 3}, {20, 11, 7}, {11, 20, 7}, {8, 8, 0}};

Sized of_rank(const Shape& s) {
  return product(normals(s.n, s.rank, 10 * s.n + s.m), normals(s.rank, s.m, 1000 + 10 * s.n + s.m));
}

// What is left over is orthogonal to the columns, and w to everything that A takes to 0.
TEST(LeastSquares, LeavesTheLeastAndHasLeastNorm) {
  for (const Shape& s : kShapes) {
    const Sized a = of_rank(s);
    const Values b = normals(s.n, 1, 7).values, w = least_squares(a.view(), b);
    ASSERT_EQ(w.size(), s.m);
    const Values left = minus(b, times(a, w));
    EXPECT_LT(largest(times(transposed(a), left)), 1e-11) << s.n << " " << s.m;
    // w = A^T v for the v of least squares with A^T v = w: then it has no other part.
    const Values v = least_squares(transposed(a).view(), w);
    EXPECT_LT(largest(minus(times(transposed(a), v), w)), 1e-11) << s.n << " " << s.m;
    if (s.rank == 0) {
      EXPECT_EQ(largest(w), 0);
    }
  }
  // By hand: w_0 + 2 w_1 = 5 has (1, 2) next to 0, twice and with 0 w = 3 besides.
  const Values a{1, 2, 1, 2, 0, 0}, w = least_squares({a.data(), 3, 2, 2}, Values{5, 5, 3});
  EXPECT_NEAR(w[0], 1, 1e-14);
  EXPECT_NEAR(w[1], 2, 1e-14);
}

TEST(LeastSquares, ToleranceSaysWhatIsDependent) {
  const Values a{1, 1, 1, 1 + 1e-6}, b{1, 2};
  EXPECT_GT(largest(least_squares({a.data(), 2, 2, 2}, b)), 1e5);
  const Values w = least_squares({a.data(), 2, 2, 2}, b, 1e-5);
  EXPECT_NEAR(w[0], .75, 1e-5);
  EXPECT_NEAR(w[1], .75, 1e-5);
}

// Q_1 D Q_2 of a diagonal D has the entries of D.
TEST(SingularValues, AreThoseThatTheMatrixWasMadeOf) {
  const auto rotation = [](std::size_t n, std::uint64_t item) {
    const Sized a = normals(n, n, item);
    const Values l = lower_triangle(a.view());  // A = L Q: Q = L^-1 A, by columns
    Sized q(n, n);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i) {
        q(i, j) = a(i, j);
        for (std::size_t k = 0; k < i; ++k) q(i, j) -= l[i * n + k] * q(k, j);
        q(i, j) /= l[i * n + i];
      }
    return q;
  };
  for (const double scale : {1.0, 1e-200, 1e200}) {
    for (const auto& [n, m] :
         {std::pair<std::size_t, std::size_t>{7, 7}, {12, 5}, {5, 12}, {1, 3}}) {
      Sized d(n, m);
      Values expected;
      for (std::size_t i = 0; i < std::min(n, m); ++i) {
        expected.push_back(i < 3 ? 2 : i < 5 ? 1e-3 / static_cast<double>(i) : 0);
        d(i, i) = expected.back() * scale;
      }
      const Sized a = product(product(rotation(n, 1), d), rotation(m, 2));
      const Values found = singular_values(a.view());
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i] / scale, expected[i], 1e-13) << n << " " << m << " " << i;
    }
  }
}

TEST(SingularValues, HaveTheTraceAndTheDeterminant) {
  const Sized a = normals(40, 40, 3);
  const Values sigma = singular_values(a.view());
  EXPECT_TRUE(std::is_sorted(sigma.rbegin(), sigma.rend()));
  EXPECT_NEAR(norm(sigma), norm(a.values), 1e-12);
  const Values l = lower_triangle(a.view());
  double log_determinant = 0, sum = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    log_determinant += std::log(std::abs(l[i * 40 + i]));
    sum += std::log(sigma[i]);
  }
  EXPECT_NEAR(sum, log_determinant, 1e-11);
  EXPECT_EQ(singular_values(a.view()), sigma);
}

TEST(SingularValues, OfZeroAndOfWhatIsNotFinite) {
  EXPECT_EQ(singular_values(Sized(3, 5).view()), Values(3, 0.0));
  EXPECT_TRUE(singular_values(Sized(0, 5).view()).empty());
  Sized a = normals(3, 3, 1);
  a(1, 2) = std::numeric_limits<double>::infinity();
  for (const double value : singular_values(a.view())) EXPECT_TRUE(std::isnan(value));
}

TEST(LowerTriangle, HasTheProductOfTheRows) {
  for (const auto& [n, m] : {std::pair<std::size_t, std::size_t>{1, 1}, {3, 8}, {6, 6}}) {
    const Sized a = normals(n, m, n);
    Sized l(n, n);
    l.values = lower_triangle(a.view());
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j) EXPECT_EQ(l(i, j), 0);
    EXPECT_LT(largest(minus(product(l, transposed(l)).values, product(a, transposed(a)).values)),
              1e-13);
  }
}

TEST(SolveDefinite, LeavesNothing) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{7}, std::size_t{40}}) {
    const Sized half = normals(n, n + 3, n), a = product(half, transposed(half));
    const Values b = normals(n, 1, 5).values, x = solve_definite(a.view(), b);
    EXPECT_LE(largest(minus(times(a, x), b)), 1e-11 * largest(b)) << n;
  }
}

TEST(CholeskyFactor, SolvesAndTakesInExamples) {
  const std::size_t n = 9;
  Sized a(n, n);
  for (std::size_t i = 0; i < n; ++i) a(i, i) = .5;
  Cholesky grown(n, .5);
  for (std::size_t k = 0; k < 14; ++k) {
    const Values x = normals(n, 1, 50 + k).values;
    grown.add(x);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) a(i, j) += x[i] * x[j];
    const Values b = normals(n, 1, 80 + k).values;
    Values by_growth = b, at_once = b;
    grown.solve(by_growth);
    Cholesky(a.view()).solve(at_once);
    EXPECT_LT(largest(minus(times(a, by_growth), b)), 1e-12);
    EXPECT_LT(largest(minus(times(a, at_once), b)), 1e-12);
  }
  a(4, 4) = -1;
  Values b(n, 1.0);
  Cholesky(a.view()).solve(b);
  EXPECT_TRUE(std::isnan(b[0]));
}

}  // namespace headroom::linear_algebra_test
