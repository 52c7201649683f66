// Products of small matrices that lie in cache, such as the scores of one attention head. B and C
// are padded: their rows hold a whole number of vectors (round_up_to_lanes), the padding of B is
// zero.
#pragma once

#include <cstddef>
#include <type_traits>

#include "kernels/vector.h"

namespace headroom::kernels {

// An (m,k) operand read element by element: a(i, p) = data[i * row_step + p * col_step].
struct Strided {
  const float* data;
  std::size_t row_step, col_step;
};

namespace small_matmul_detail {

// As many rows as leave their sums in registers: with a panel of two vectors 12 sums of 16
// registers (AVX2), 24 of 32 (AVX-512).
inline constexpr std::size_t kMostRows = kLanes == 16 ? 12 : 6;

// Rows x (Vectors * kLanes) of a product in registers, handed to put(row, vector, sum); the sums
// run over p = 0 .. k-1 in order.
template <std::size_t Rows, std::size_t Vectors, class Put>
inline void block(Strided a, const float* b, std::size_t b_stride, std::size_t k, const Put& put) {
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
    for (std::size_t v = 0; v < Vectors; ++v) put(i, v, sums[i][v]);
}

// The first m rows of a panel of Vectors vectors.
template <std::size_t Vectors, class Put>
inline void panel(Strided a, const float* b, std::size_t b_stride, std::size_t m, std::size_t k,
                  const Put& put) {
  std::size_t i = 0;
  const auto rows = [&](auto count) {
    block<count(), Vectors>({a.data + i * a.row_step, a.row_step, a.col_step}, b, b_stride, k,
                            [&](std::size_t row, std::size_t v, Vec sum) { put(i + row, v, sum); });
    i += count();
  };
  while (i + kMostRows <= m) rows(std::integral_constant<std::size_t, kMostRows>{});
  if constexpr (kMostRows > 8) {
    if (i + 8 <= m) rows(std::integral_constant<std::size_t, 8>{});
  }
  if (i + 4 <= m) rows(std::integral_constant<std::size_t, 4>{});
  if (i + 2 <= m) rows(std::integral_constant<std::size_t, 2>{});
  if (i < m) rows(std::integral_constant<std::size_t, 1>{});
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
  const auto put_at = [&](std::size_t j) {
    return [to = c + j, c_stride](std::size_t i, std::size_t v, Vec sum) {
      store(to + i * c_stride + v * kLanes, sum);
    };
  };
  std::size_t j = 0;
  for (; j + kPanel <= n; j += kPanel) panel<2>(a, b + j, b_stride, rows(j), depth(j), put_at(j));
  if (j < n) panel<1>(a, b + j, b_stride, rows(j), depth(j), put_at(j));
}

}  // namespace headroom::kernels
