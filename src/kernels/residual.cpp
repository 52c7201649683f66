#include "kernels/residual.h"

#include "core/parallel.h"

namespace headroom::kernels {

void add_forward(View<float, 2> z, View<const float, 2> x, View<const float, 2> y) {
  parallel_rows(z.size(), 32768, [&](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) z.data[i] = x.data[i] + y.data[i];
  });
}

void add_positions_forward(Matrix<float> x, View<const float, 2> table, std::size_t tokens) {
  parallel_for(x.rows / tokens, [&](std::size_t b) {
    for (std::size_t t = 0; t < tokens; ++t) {
      float* row = x.row(b * tokens + t);
      for (std::size_t c = 0; c < x.cols; ++c) row[c] += table.data[t * x.cols + c];
    }
  });
}

void add_positions_backward(View<float, 2> dtable, Matrix<const float> dx, std::size_t tokens) {
  parallel_for(tokens, [&](std::size_t t) {  // one position a tile, sequences in order
    for (std::size_t i = t; i < dx.rows; i += tokens) {
      const float* row = dx.row(i);
      for (std::size_t c = 0; c < dx.cols; ++c) dtable.data[t * dx.cols + c] += row[c];
    }
  });
}

}  // namespace headroom::kernels
