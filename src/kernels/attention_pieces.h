// What the attention kernels share: moving one head in and out of the layout with the queries along
// the vector.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/view.h"
#include "kernels/small_matmul.h"
#include "kernels/transpose.h"
#include "kernels/vector.h"

namespace headroom::kernels {

// to (cols, padded) = factor * from^T, zero beyond from.rows.
inline void transpose_in(float* to, std::size_t padded, Matrix<const float> from, float factor) {
  transpose(to, padded, from, [&](std::size_t) { return factor; });
  for (std::size_t c = 0; c < from.cols && from.rows < padded; ++c)
    std::fill(to + c * padded + from.rows, to + (c + 1) * padded, 0.0f);
}

// to = from^T with row i times factor(i), from (cols, padded).
template <class Factor>
void transpose_out(Matrix<float> to, const float* from, std::size_t padded, const Factor& factor) {
  transpose(to.data, to.stride, Matrix<const float>(from, to.cols, to.rows, padded), factor);
}

// to (rows, padded) = from, zero beyond from.cols.
inline void copy_padded(float* to, std::size_t padded, Matrix<const float> from) {
  for (std::size_t i = 0; i < from.rows; ++i) {
    float* row = to + i * padded;
    for (std::size_t c = 0; c < from.cols; ++c) row[c] = from.data[i * from.stride + c];
    for (std::size_t c = from.cols; c < padded; ++c) row[c] = 0;
  }
}

// The lanes whose query, at i and after, sees key j; all ones or all zeros.
inline IntVec sees(std::size_t i, std::size_t j) {
  IntVec lane;
  for (std::size_t l = 0; l < kLanes; ++l) lane[l] = static_cast<std::int32_t>(i + l);
  return lane >= static_cast<std::int32_t>(j);
}

// Columns of heads g .. g + n - 1, of `size` columns each.
template <class T>
Matrix<T> head_columns(Matrix<T> all, std::size_t g, std::size_t n, std::size_t size) {
  return all.col_range(g * size, n * size);
}
// And their rows in sequence b.
template <class T>
Matrix<T> heads(Matrix<T> all, std::size_t b, std::size_t tokens, std::size_t g, std::size_t n,
                std::size_t size) {
  return head_columns(all.row_range(b * tokens, tokens), g, n, size);
}
template <class T>
Matrix<T> head(Matrix<T> all, std::size_t b, std::size_t tokens, std::size_t g, std::size_t size) {
  return heads(all, b, tokens, g, 1, size);
}

}  // namespace headroom::kernels
