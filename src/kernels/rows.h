// What the kernels that go through a matrix row by row share.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/view.h"
#include "kernels/vector.h"

namespace headroom::kernels {

// Rows a tile: about 32k elements.
inline std::size_t elementwise_rows(std::size_t cols) {
  return std::max<std::size_t>(8, 32768 / std::max<std::size_t>(1, cols));
}

// to (cols) (+)= the sum of the rows of `from`, in order.
inline void column_sums(float* to, Matrix<const float> from, bool more) {
  constexpr std::size_t kVectors = 4, kBlock = kVectors * kLanes;  // sums that stay in registers
  std::size_t c = 0;
  for (; c + kBlock <= from.cols; c += kBlock) {
    Vec sums[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) sums[v] = more ? load(to + c + v * kLanes) : Vec{};
    for (std::size_t i = 0; i < from.rows; ++i)
      for (std::size_t v = 0; v < kVectors; ++v)
        sums[v] += load(from.data + i * from.stride + c + v * kLanes);
    for (std::size_t v = 0; v < kVectors; ++v) store(to + c + v * kLanes, sums[v]);
  }
  if (!more) std::fill(to + c, to + from.cols, 0.0f);
  for (std::size_t i = 0; i < from.rows; ++i)
    for (std::size_t rest = c; rest < from.cols; ++rest)
      to[rest] += from.data[i * from.stride + rest];
}

// Each row of y += row.
inline void add_row(Matrix<float> y, const float* row) {
  for (std::size_t i = 0; i < y.rows; ++i)
    for (std::size_t c = 0; c < y.cols; ++c) y.data[i * y.stride + c] += row[c];
}

}  // namespace headroom::kernels
