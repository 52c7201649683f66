// Weight gradients of layers that run as one kernel: rows are cut into groups, each group sums the
// gradients of its rows in order in a share of its own, and the shares are added in order. The cuts
// depend on the shapes alone, as everything that orders sums.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/parallel.h"

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

// to (n) += the n numbers at `first` of every share, `stride` numbers apart.
template <class S>
void add_shares(S* to, std::size_t n, const S* first, std::size_t n_shares, std::size_t stride) {
  constexpr std::size_t kTile = 4096;
  parallel_rows(n, kTile, [&](std::size_t begin, std::size_t count) {
    for (std::size_t g = 0; g < n_shares; ++g) {
      const S* from = first + g * stride + begin;
      for (std::size_t i = 0; i < count; ++i) to[begin + i] += from[i];
    }
  });
}

}  // namespace headroom::kernels
