#include "kernels/residual.h"

#include "core/parallel.h"

namespace headroom::kernels {

void add_forward(View<float, 2> z, View<const float, 2> x, View<const float, 2> y) {
  parallel_rows(z.size(), 32768, [&](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) z.data[i] = x.data[i] + y.data[i];
  });
}

void add_positions_forward(View<float, 3> x, View<const float, 2> table) {
  const std::size_t n = x.dims[1] * x.dims[2];
  parallel_for(x.dims[0], [&](std::size_t b) {
    float* row = x.data + b * n;
    for (std::size_t i = 0; i < n; ++i) row[i] += table.data[i];
  });
}

void add_positions_backward(View<float, 2> dtable, View<const float, 3> dx) {
  const std::size_t cols = dx.dims[2];
  parallel_for(dx.dims[1], [&](std::size_t t) {  // one position a tile, sequences in order
    for (std::size_t b = 0; b < dx.dims[0]; ++b) {
      const float* row = dx.data + (b * dx.dims[1] + t) * cols;
      for (std::size_t c = 0; c < cols; ++c) dtable.data[t * cols + c] += row[c];
    }
  });
}

}  // namespace headroom::kernels
