// Tiles of the kernels that go through a matrix row by row.
#pragma once

#include <algorithm>
#include <cstddef>

namespace headroom::kernels {

// Rows a tile: about 32k elements.
inline std::size_t elementwise_rows(std::size_t cols) {
  return std::max<std::size_t>(8, 32768 / std::max<std::size_t>(1, cols));
}

}  // namespace headroom::kernels
