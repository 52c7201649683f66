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

// The first m rows of a panel of Vectors vectors, MostRows at a time.
template <std::size_t Vectors, std::size_t MostRows = kMostRows, class Put>
inline void panel(Strided a, const float* b, std::size_t b_stride, std::size_t m, std::size_t k,
                  const Put& put) {
  std::size_t i = 0;
  const auto rows = [&](auto count) {
    block<count(), Vectors>({a.data + i * a.row_step, a.row_step, a.col_step}, b, b_stride, k,
                            [&](std::size_t row, std::size_t v, Vec sum) { put(i + row, v, sum); });
    return count();
  };
  while (i + MostRows <= m) i += rows(std::integral_constant<std::size_t, MostRows>{});
  if constexpr (MostRows > 8) {
    if (i + 8 <= m) i += rows(std::integral_constant<std::size_t, 8>{});
  }
  if (i + 4 <= m) i += rows(std::integral_constant<std::size_t, 4>{});
  if (i + 2 <= m) i += rows(std::integral_constant<std::size_t, 2>{});
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

namespace small_matmul_detail {

// C (Rows, Cols) += A B^T, sums over n columns, n a whole number of vectors.
template <std::size_t Rows, std::size_t Cols>
inline void dot_block(float* c, std::size_t c_stride, const float* a, std::size_t a_stride,
                      const float* b, std::size_t b_stride, std::size_t n) {
  Vec sums[Rows][Cols] = {};
  for (std::size_t p = 0; p < n; p += kLanes) {
    Vec x[Rows];
    for (std::size_t i = 0; i < Rows; ++i) x[i] = load(a + i * a_stride + p);
    for (std::size_t j = 0; j < Cols; ++j) {
      const Vec y = load(b + j * b_stride + p);
      for (std::size_t i = 0; i < Rows; ++i) sums[i][j] = fused(x[i], y, sums[i][j]);
    }
  }
  for (std::size_t i = 0; i < Rows; ++i)
    for (std::size_t j = 0; j < Cols; ++j) c[i * c_stride + j] += horizontal_sum(sums[i][j]);
}

// body(first, compile-time count) for blocks of `Most` rows or columns, then single ones.
template <std::size_t Most, class Body>
inline void for_blocks(std::size_t n, const Body& body) {
  std::size_t i = 0;
  for (; i + Most <= n; i += Most) body(i, std::integral_constant<std::size_t, Most>{});
  for (; i < n; ++i) body(i, std::integral_constant<std::size_t, 1>{});
}

}  // namespace small_matmul_detail

// C (m,k) += A (m,n) B (k,n)^T, n a whole number of vectors: the dot products of long rows.
inline void add_row_products(float* c, const float* a, std::size_t m, const float* b, std::size_t k,
                             std::size_t stride, std::size_t n) {
  using namespace small_matmul_detail;
  // 8 sums at once hide the latency of each; larger blocks are no faster.
  for_blocks<4>(m, [&](std::size_t i, auto rows) {
    for_blocks<2>(k, [&](std::size_t j, auto cols) {
      dot_block<rows(), cols()>(c + i * k + j, k, a + i * stride, stride, b + j * stride, stride,
                                n);
    });
  });
}

}  // namespace headroom::kernels
