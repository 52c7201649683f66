// Weight gradients of layers that run as one kernel: rows are cut into groups, each group sums the
// gradients of its rows in order in a share of its own, and the shares are added in order. The cuts
// depend on the shapes alone, as everything that orders sums.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/parallel.h"
#include "core/view.h"

namespace headroom::kernels {

// `count` things (rows, sequences) in at most 16 groups of at least `least`.
struct RowGroups {
  std::size_t count, size;
  RowGroups(std::size_t count_in, std::size_t least)
      : count(count_in), size(std::max(least, (count_in + kMost - 1) / kMost)) {}
  std::size_t groups() const { return (count + size - 1) / size; }

 private:
  static constexpr std::size_t kMost = 16;
};

// to (n) += the n numbers at `first` of every share, `stride` floats apart.
inline void add_shares(float* to, std::size_t n, const float* first, std::size_t n_shares,
                       std::size_t stride) {
  constexpr std::size_t kTile = 4096;
  parallel_rows(n, kTile, [&](std::size_t begin, std::size_t count) {
    for (std::size_t g = 0; g < n_shares; ++g) {
      const float* from = first + g * stride + begin;
      for (std::size_t i = 0; i < count; ++i) to[begin + i] += from[i];
    }
  });
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
