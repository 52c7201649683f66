#include "analysis/spectrum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/rng.h"

namespace headroom::spectrum_test {

std::vector<double> normals(std::size_t n, std::uint64_t item) {
  Random random(1, Purpose::kTest, 0, item);
  std::vector<double> values(n);
  for (double& v : values) v = random.normal();
  return values;
}

// A product through r x r problems against the same product multiplied out.
TEST(Spectrum, OfAProductIsThatOfTheMatrix) {
  for (const auto& [r, d] : {std::pair<std::size_t, std::size_t>{1, 5}, {3, 7}, {7, 7}, {9, 4}}) {
    const std::vector<double> a = normals(r * d, r), b = normals(r * d, 100 + r);
    std::vector<double> m(d * d);
    for (std::size_t c = 0; c < r; ++c)
      for (std::size_t i = 0; i < d; ++i)
        for (std::size_t j = 0; j < d; ++j) m[i * d + j] += a[c * d + i] * b[c * d + j];
    const Spectrum product = product_spectrum({a.data(), r, d, d}, {b.data(), r, d, d}),
                   whole = matrix_spectrum({m.data(), d, d, d});
    ASSERT_EQ(product.singular_values.size(), std::min(r, d));
    double squares = 0;
    for (std::size_t i = 0; i < product.singular_values.size(); ++i) {
      EXPECT_NEAR(product.singular_values[i], whole.singular_values[i], 1e-12);
      squares += product.singular_values[i] * product.singular_values[i];
    }
    EXPECT_EQ(product.numerical_rank, std::min(r, d));
    EXPECT_NEAR(product.effective_rank, whole.effective_rank, 1e-9);
    EXPECT_NEAR(product.stable_rank, whole.stable_rank, 1e-9);
    EXPECT_NEAR(product.angle_deg, whole.angle_deg, 1e-9);
    EXPECT_NEAR(product.scale, std::sqrt(squares / static_cast<double>(d)), 1e-12);
  }
}

TEST(Spectrum, RanksAndAnglesAreWhatTheirFormulasSay) {
  const std::vector<double> m{-3, 0, 0, 0, -1, 0, 0, 0, -1e-5};  // diagonal
  const Spectrum s = matrix_spectrum({m.data(), 3, 3, 3});
  EXPECT_EQ(s.numerical_rank, 2u);
  EXPECT_NEAR(s.stable_rank, 10. / 9, 1e-9);
  EXPECT_NEAR(s.effective_rank, std::exp(-.75 * std::log(.75) - .25 * std::log(.25)), 1e-4);
  EXPECT_NEAR(std::cos(s.angle_deg * std::acos(-1) / 180), -4 / std::sqrt(30), 1e-5);
  EXPECT_NEAR(s.scale, std::sqrt(10. / 3), 1e-9);
  // 4 of 16 coordinates, negated: the angle of four heads of rank 4 that share the work.
  std::vector<double> part(4 * 16), minus(4 * 16);
  for (std::size_t i = 0; i < 4; ++i) part[i * 16 + i] = -(minus[i * 16 + i] = 2);
  const Spectrum four = product_spectrum({part.data(), 4, 16, 16}, {minus.data(), 4, 16, 16});
  EXPECT_NEAR(four.angle_deg, 120, 1e-9);
  EXPECT_NEAR(four.effective_rank, 4, 1e-9);
}

TEST(Spectrum, OfZeroHasNoRankAndNoAngle) {
  const std::vector<double> zero(12);
  const Spectrum s = product_spectrum({zero.data(), 2, 6, 6}, {zero.data(), 2, 6, 6});
  EXPECT_EQ(s.numerical_rank, 0u);
  EXPECT_EQ(s.effective_rank, 0);
  EXPECT_EQ(s.stable_rank, 0);
  EXPECT_TRUE(std::isnan(s.angle_deg));
  EXPECT_EQ(s.scale, 0);
}

}  // namespace headroom::spectrum_test
