// How a small model goes through its batch: in slices, each from end to end in one thread's cache.
#pragma once

#include <algorithm>
#include <cstddef>

#include "model/model.h"

namespace headroom {

// `items` a slice, `count` slices of the largest batch: one where the batch is not cut.
struct Slices {
  std::size_t items, count;

  // By measurement: where the parameters and a slice's activations stay in a core's cache.
  static Slices of(std::size_t n_params, const ModelIo& io, std::size_t max_batch) {
    constexpr std::size_t kMostParams = 1 << 15, kRows = 128;
    const std::size_t rows = std::max<std::size_t>(1, io.tokens + io.queries),
                      items = (kRows + rows - 1) / rows;
    if (n_params > kMostParams || max_batch <= items) return {max_batch, 1};
    return {items, (max_batch + items - 1) / items};
  }
};

}  // namespace headroom
