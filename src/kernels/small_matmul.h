// Products of small matrices that lie in cache, such as the scores of one attention head. B and C are padded:
// their rows hold a whole number of vectors (round_up_to_lanes), the padding of B is zero.
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
template <std::size_t Rows, std::size_t Vectors, bool Accumulate>
inline void block(float* c, std::size_t c_stride, Strided a, const float* b, std::size_t b_stride, std::size_t k) {
  Vec sums[Rows][Vectors];
  for (std::size_t i = 0; i < Rows; ++i)
    for (std::size_t v = 0; v < Vectors; ++v)
      sums[i][v] = Accumulate ? load(c + i * c_stride + v * kLanes) : Vec{};
  for (std::size_t p = 0; p < k; ++p) {
    Vec row[Vectors];
    for (std::size_t v = 0; v < Vectors; ++v) row[v] = load(b + p * b_stride + v * kLanes);
    for (std::size_t i = 0; i < Rows; ++i) {
      const Vec x = broadcast(a.data[i * a.row_step + p * a.col_step]);
      for (std::size_t v = 0; v < Vectors; ++v) sums[i][v] += x * row[v];
    }
  }
  for (std::size_t i = 0; i < Rows; ++i)
    for (std::size_t v = 0; v < Vectors; ++v) store(c + i * c_stride + v * kLanes, sums[i][v]);
}

template <std::size_t Vectors, bool Accumulate>
inline void columns(float* c, std::size_t c_stride, Strided a, const float* b, std::size_t b_stride, std::size_t m,
                    std::size_t k) {
  std::size_t i = 0;
  const auto at = [&](std::size_t row) { return Strided{a.data + row * a.row_step, a.row_step, a.col_step}; };
  for (; i + 4 <= m; i += 4) block<4, Vectors, Accumulate>(c + i * c_stride, c_stride, at(i), b, b_stride, k);
  for (; i < m; ++i) block<1, Vectors, Accumulate>(c + i * c_stride, c_stride, at(i), b, b_stride, k);
}

}  // namespace small_matmul_detail

// C (m,n) = A (m,k) B (k,n), or += with Accumulate. n counts whole vectors' worth of columns.
template <bool Accumulate = false>
inline void small_matmul(float* c, std::size_t c_stride, Strided a, const float* b, std::size_t b_stride,
                         std::size_t m, std::size_t n, std::size_t k) {
  using namespace small_matmul_detail;
  std::size_t j = 0;
  for (; j + 2 * kLanes <= n; j += 2 * kLanes)
    columns<2, Accumulate>(c + j, c_stride, a, b + j, b_stride, m, k);
  if (j < n) columns<1, Accumulate>(c + j, c_stride, a, b + j, b_stride, m, k);
}

}  // namespace headroom::kernels
