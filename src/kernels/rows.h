// What the kernels that go through a matrix row by row share.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/view.h"

namespace headroom::kernels {

// Rows a tile: about 32k elements.
inline std::size_t elementwise_rows(std::size_t cols) {
  return std::max<std::size_t>(8, 32768 / std::max<std::size_t>(1, cols));
}

// to (cols) (+)= the sum of the rows of `from`.
inline void column_sums(float* to, Matrix<const float> from, bool more) {
  if (!more) std::fill_n(to, from.cols, 0.0f);
  for (std::size_t i = 0; i < from.rows; ++i)
    for (std::size_t c = 0; c < from.cols; ++c) to[c] += from.data[i * from.stride + c];
}

// Each row of y += row.
inline void add_row(Matrix<float> y, const float* row) {
  for (std::size_t i = 0; i < y.rows; ++i)
    for (std::size_t c = 0; c < y.cols; ++c) y.data[i * y.stride + c] += row[c];
}

}  // namespace headroom::kernels
