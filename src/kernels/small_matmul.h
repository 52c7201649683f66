// Products of small matrices that lie in cache, such as the scores of one attention head. B and C
// are padded: their rows hold a whole number of vectors (round_up_to_lanes), the padding of B is
// zero.
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/vector.h"

namespace headroom::kernels {

// An (m,k) operand read element by element: a(i, p) = data[i * row_step + p * col_step].
struct Strided {
  const float* data;
  std::size_t row_step, col_step;
};

namespace small_matmul_detail {

// Rows x (Vectors * kLanes) of C in registers; the sums run over p = 0 .. k-1 in order.
template <std::size_t Rows, std::size_t Vectors>
inline void block(float* c, std::size_t c_stride, Strided a, const float* b, std::size_t b_stride,
                  std::size_t k) {
  Vec sums[Rows][Vectors] = {};
  for (std::size_t p = 0; p < k; ++p) {
    Vec row[Vectors];
    for (std::size_t v = 0; v < Vectors; ++v) row[v] = load(b + p * b_stride + v * kLanes);
    for (std::size_t i = 0; i < Rows; ++i) {
      const Vec x = broadcast(a.data[i * a.row_step + p * a.col_step]);
      for (std::size_t v = 0; v < Vectors; ++v) sums[i][v] = fused(x, row[v], sums[i][v]);
    }
  }
  for (std::size_t i = 0; i < Rows; ++i)
    for (std::size_t v = 0; v < Vectors; ++v) store(c + i * c_stride + v * kLanes, sums[i][v]);
}

template <std::size_t Vectors>
inline void columns(float* c, std::size_t c_stride, Strided a, const float* b, std::size_t b_stride,
                    std::size_t m, std::size_t k) {
  std::size_t i = 0;
  const auto at = [&](std::size_t row) {
    return Strided{a.data + row * a.row_step, a.row_step, a.col_step};
  };
  for (; i + 4 <= m; i += 4) block<4, Vectors>(c + i * c_stride, c_stride, at(i), b, b_stride, k);
  for (; i + 2 <= m; i += 2) block<2, Vectors>(c + i * c_stride, c_stride, at(i), b, b_stride, k);
  if (i < m) block<1, Vectors>(c + i * c_stride, c_stride, at(i), b, b_stride, k);
}

}  // namespace small_matmul_detail

// Columns of a product that are computed together.
inline constexpr std::size_t kPanel = 2 * kLanes;

// C (m,n) = A (m,k) B (k,n), n a whole number of vectors. rows(j) and depth(j) say for the panel of
// columns that begins at j how many rows of C are wanted and how far the sums run: causal attention
// leaves out what is masked.
template <class RowsOf, class DepthOf>
inline void small_matmul(float* c, std::size_t c_stride, Strided a, const float* b,
                         std::size_t b_stride, std::size_t n, const RowsOf& rows,
                         const DepthOf& depth) {
  using namespace small_matmul_detail;
  std::size_t j = 0;
  for (; j + kPanel <= n; j += kPanel)
    columns<2>(c + j, c_stride, a, b + j, b_stride, rows(j), depth(j));
  if (j < n) columns<1>(c + j, c_stride, a, b + j, b_stride, rows(j), depth(j));
}

}  // namespace headroom::kernels
