// Products of every transposition, at sizes on both sides of where the own kernel gives way to the
// library's, against plain sums in double.
#include "kernels/matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/rng.h"

namespace headroom::matmul_test {

using kernels::Transpose;

struct Sizes {
  std::size_t m, n, k;
};

class Products : public ::testing::TestWithParam<Sizes> {};

TEST_P(Products, FollowPlainSums) {
  const auto [m, n, k] = GetParam();
  constexpr std::size_t kGap = 3;  // between rows: strides are not widths
  for (const Transpose ta : {Transpose::kNo, Transpose::kYes})
    for (const Transpose tb : {Transpose::kNo, Transpose::kYes})
      for (const auto& [alpha, beta] :
           std::vector<std::pair<float, float>>{{1, 0}, {1, 1}, {-0.5f, 0}, {2, 0.25f}}) {
        const bool at = ta == Transpose::kYes, bt = tb == Transpose::kYes;
        const std::size_t a_rows = at ? k : m, a_cols = at ? m : k, b_rows = bt ? n : k,
                          b_cols = bt ? k : n;
        std::vector<float> a(a_rows * (a_cols + kGap)), b(b_rows * (b_cols + kGap)),
            c(m * (n + kGap));
        Random random(1, Purpose::kTest, 0, static_cast<std::uint32_t>(m * 1000 + n * 100 + k));
        random.fill_normal(a);
        random.fill_normal(b);
        random.fill_normal(c);
        const std::vector<float> before = c;
        // Where beta is 0, what was there must not matter.
        if (beta == 0)
          for (std::size_t i = 0; i < m; ++i)
            c[i * (n + kGap)] = std::numeric_limits<float>::quiet_NaN();
        kernels::matmul({c.data(), m, n, n + kGap}, {a.data(), a_rows, a_cols, a_cols + kGap}, ta,
                        {b.data(), b_rows, b_cols, b_cols + kGap}, tb, alpha, beta);
        SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) +
                     (at ? " T" : " N") + (bt ? "T" : "N"));
        for (std::size_t i = 0; i < m; ++i)
          for (std::size_t j = 0; j < n + kGap; ++j) {
            const std::size_t here = i * (n + kGap) + j;
            if (j >= n) {
              ASSERT_EQ(c[here], before[here]) << "written beyond the columns";
              continue;
            }
            double sum = 0, size = 0;
            for (std::size_t p = 0; p < k; ++p) {
              const double term =
                  double{a[at ? p * (a_cols + kGap) + i : i * (a_cols + kGap) + p]} *
                  double{b[bt ? j * (b_cols + kGap) + p : p * (b_cols + kGap) + j]};
              sum += term;
              size += std::abs(term);
            }
            const double before_it = beta == 0 ? 0 : double{beta} * double{before[here]};
            ASSERT_NEAR(c[here], double{alpha} * sum + before_it, 1e-6 * (1 + size))
                << i << ", " << j;
          }
      }
}

std::string name(const ::testing::TestParamInfo<Sizes>& test) {
  return std::to_string(test.param.m) + "x" + std::to_string(test.param.n) + "x" +
         std::to_string(test.param.k);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Products,
                         ::testing::Values(Sizes{1, 1, 1}, Sizes{2, 3, 5}, Sizes{7, 8, 1},
                                           Sizes{13, 16, 16}, Sizes{25, 17, 9}, Sizes{6, 31, 64},
                                           Sizes{11, 33, 255}, Sizes{5, 64, 256}, Sizes{4, 65, 256},
                                           Sizes{3, 64, 257}, Sizes{70, 70, 70}),
                         name);

}  // namespace headroom::matmul_test
