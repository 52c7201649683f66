// Transposes of matrices that lie in cache, by blocks of 8 x 8 in registers.
#pragma once

#include <cstddef>
#include <cstring>

#include "core/view.h"

namespace headroom::kernels {

namespace transpose_detail {

inline constexpr std::size_t kSide = 8;
using Row = float __attribute__((vector_size(kSide * sizeof(float))));

// Rows of 4-byte numbers become columns: pairs of numbers, pairs of pairs, then halves change
// places.
inline void block(Row (&r)[kSide]) {
  Row pairs[kSide], fours[kSide];
  for (std::size_t i = 0; i < kSide; i += 2) {
    pairs[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    pairs[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (std::size_t i = 0; i < kSide; i += 4)
    for (std::size_t h = 0; h < 2; ++h) {
      const Row a = pairs[i + h], b = pairs[i + h + 2];
      fours[i + 2 * h] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
      fours[i + 2 * h + 1] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (std::size_t i = 0; i < kSide / 2; ++i) {
    const Row a = fours[i], b = fours[i + kSide / 2];
    r[i] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
    r[i + kSide / 2] = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

}  // namespace transpose_detail

// to (from.cols, from.rows) = from^T with row c of `to` times factor(c); its rows lie `stride`
// elements apart.
template <class Factor>
inline void transpose(float* to, std::size_t stride, Matrix<const float> from,
                      const Factor& factor) {
  using transpose_detail::kSide, transpose_detail::Row;
  const std::size_t whole_rows = from.rows / kSide * kSide, whole_cols = from.cols / kSide * kSide;
  for (std::size_t i = 0; i < whole_rows; i += kSide)
    for (std::size_t c = 0; c < whole_cols; c += kSide) {
      Row r[kSide];
      for (std::size_t l = 0; l < kSide; ++l)
        std::memcpy(&r[l], from.data + (i + l) * from.stride + c, sizeof(Row));
      transpose_detail::block(r);
      for (std::size_t l = 0; l < kSide; ++l) {
        r[l] *= factor(c + l);
        std::memcpy(to + (c + l) * stride + i, &r[l], sizeof(Row));
      }
    }
  const auto one_by_one = [&](std::size_t first_row, std::size_t end_row, std::size_t first_col) {
    for (std::size_t c = first_col; c < from.cols; ++c)
      for (std::size_t i = first_row; i < end_row; ++i)
        to[c * stride + i] = factor(c) * from.data[i * from.stride + c];
  };
  one_by_one(0, whole_rows, whole_cols);
  one_by_one(whole_rows, from.rows, 0);
}

}  // namespace headroom::kernels
