// Products of every transposition, of rows with gaps, against plain sums in double.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "core/arena.h"
#include "core/rng.h"
#include "kernels/matmul.h"

namespace headroom {

// While one exists, products take such operands.
class OperandsScope {
 public:
  explicit OperandsScope(kernels::Operands operands) { kernels::set_operands(operands); }
  ~OperandsScope() { kernels::set_operands(kernels::Operands::kFloat32); }
};

// op(a) op(b) + beta * c of operands that were laid out first.
inline void multiply_laid_out(Matrix<float> c, Matrix<const float> a, kernels::Transpose ta,
                              Matrix<const float> b, kernels::Transpose tb, float beta) {
  Arena<float> memory(kernels::layout_floats(a.rows, a.cols) +
                      kernels::layout_floats(b.rows, b.cols));
  float* next = memory.take(memory.capacity()).data;
  const kernels::Operand left = kernels::lay_out(next, kernels::Side::kLeft, a, ta),
                         right = kernels::lay_out(next, kernels::Side::kRight, b, tb);
  kernels::multiply(c, left, right, beta);
}

// `rounded`: what a product makes of a number of alpha * op(a) or of op(b).
template <class Rounded>
void expect_products(std::size_t m, std::size_t n, std::size_t k, const Rounded& rounded) {
  using kernels::Transpose;
  constexpr std::size_t kGap = 3;  // between rows: strides are not widths
  for (const Transpose ta : {Transpose::kNo, Transpose::kYes})
    for (const Transpose tb : {Transpose::kNo, Transpose::kYes})
      for (const auto& [alpha, beta, laid_out] :
           std::vector<std::tuple<float, float, bool>>{{1, 0, false},
                                                       {1, 1, false},
                                                       {-0.5f, 0, false},
                                                       {0.3f, 0, false},
                                                       {2, 0.25f, false},
                                                       {1, 0, true},
                                                       {1, 1, true},
                                                       {1, 0.25f, true}}) {
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
        const Matrix<float> to{c.data(), m, n, n + kGap};
        const Matrix<const float> from_a{a.data(), a_rows, a_cols, a_cols + kGap},
            from_b{b.data(), b_rows, b_cols, b_cols + kGap};
        if (laid_out) {
          multiply_laid_out(to, from_a, ta, from_b, tb, beta);
        } else {
          kernels::matmul(to, from_a, ta, from_b, tb, alpha, beta);
        }
        SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) +
                     (at ? " T" : " N") + (bt ? "T" : "N") + (laid_out ? ", laid out" : ""));
        for (std::size_t i = 0; i < m; ++i)
          for (std::size_t j = 0; j < n + kGap; ++j) {
            const std::size_t here = i * (n + kGap) + j;
            if (j >= n) {
              ASSERT_EQ(c[here], before[here]) << "written beyond the columns";
              continue;
            }
            double sum = beta == 0 ? 0 : double{beta} * double{before[here]}, size = 0;
            for (std::size_t p = 0; p < k; ++p) {
              const float left = a[at ? p * (a_cols + kGap) + i : i * (a_cols + kGap) + p],
                          right = b[bt ? j * (b_cols + kGap) + p : p * (b_cols + kGap) + j];
              const double term = double{rounded(alpha * left)} * double{rounded(right)};
              sum += term;
              size += std::abs(term);
            }
            ASSERT_NEAR(c[here], sum, 1e-6 * (1 + size)) << i << ", " << j;
          }
      }
}

}  // namespace headroom
