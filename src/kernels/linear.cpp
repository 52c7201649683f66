#include "kernels/linear.h"

#include <algorithm>

#include "core/parallel.h"
#include "kernels/matmul.h"
#include "kernels/rows.h"
#include "kernels/vector.h"

namespace headroom::kernels {
namespace {

// Whether products lay out their operands first: then fewer, larger ones pay.
bool lays_out() { return layout_floats(1, 1) > 0; }

// Rows a tile: about a million multiply-adds, so that a tile outlasts its dispatch, in multiples of
// 16 and within bounds that keep both many tiles and good products. Never a function of the
// threads.
std::size_t tile_rows(std::size_t in, std::size_t out) {
  const std::size_t rows = (std::size_t{1} << 20) / std::max<std::size_t>(1, in * out);
  return std::clamp<std::size_t>((rows + 15) / 16 * 16, lays_out() ? 512 : 128, 2048);
}

// Width of a tile of a weight gradient, along the wider of its two sides; the inner dimension is
// the whole batch. A slice of 16 rows of a wide matrix runs at a third of the speed.
std::size_t tile_side(std::size_t side) {
  return std::clamp<std::size_t>((side / (lays_out() ? 4 : 8) + 15) / 16 * 16, 16, 128);
}

constexpr std::size_t kBiasColumns = 64;

}  // namespace

void linear_forward(Matrix<float> y, Matrix<const float> x, View<const float, 2> w,
                    View<const float, 2> bias, double alpha) {
  const std::size_t out = w.dims[0], n_bias = bias.dims[0];
  parallel_rows(y.rows, tile_rows(x.cols, out), [&](std::size_t first, std::size_t count) {
    const Matrix<float> tile = y.row_range(first, count);
    for (std::size_t i = 0; i < count && n_bias > 0; ++i) {
      float* row = tile.row(i);
      std::copy_n(bias.data, out, row);
      for (std::size_t m = 1; m < n_bias; ++m)
        for (std::size_t j = 0; j < out; ++j) row[j] += bias.data[m * out + j];
      if (alpha != 1)
        for (std::size_t j = 0; j < out; ++j) row[j] *= static_cast<float>(alpha);
    }
    matmul(tile, x.row_range(first, count), Transpose::kNo, w, Transpose::kYes,
           static_cast<float>(alpha), n_bias > 0 ? 1.0f : 0.0f);
  });
}

void linear_backward_input(Matrix<float> dx, Matrix<const float> dy, View<const float, 2> w,
                           double alpha, double beta) {
  parallel_rows(dx.rows, tile_rows(w.dims[1], w.dims[0]),
                [&](std::size_t first, std::size_t count) {
                  matmul(dx.row_range(first, count), dy.row_range(first, count), Transpose::kNo, w,
                         Transpose::kNo, static_cast<float>(alpha), static_cast<float>(beta));
                });
}

void linear_backward_params(View<float, 2> dw, View<float, 2> dbias, Matrix<const float> dy,
                            Matrix<const float> x, double alpha) {
  const Matrix<float> whole = dw;
  const bool tall = dw.dims[0] >= dw.dims[1];
  const std::size_t side = tall ? dw.dims[0] : dw.dims[1];
  parallel_rows(side, tile_side(side), [&](std::size_t first, std::size_t count) {
    matmul(tall ? whole.row_range(first, count) : whole.col_range(first, count),
           tall ? dy.col_range(first, count) : dy, Transpose::kYes,
           tall ? x : x.col_range(first, count), Transpose::kNo, static_cast<float>(alpha), 1.0f);
  });
  bias_backward(dbias, dy, alpha);
}

void bias_backward(View<float, 2> dbias, Matrix<const float> dy, double alpha) {
  if (dbias.dims[0] == 0) return;
  // Column blocks, each summed down all rows in order: no partial sums, so nothing depends on the
  // threads.
  parallel_rows(dy.cols, kBiasColumns, [&](std::size_t first, std::size_t count) {
    float sums[kBiasColumns];
    column_sums(sums, dy.col_range(first, count), false);
    for (std::size_t m = 0; m < dbias.dims[0]; ++m)
      for (std::size_t j = 0; j < count; ++j)
        dbias.data[m * dbias.dims[1] + first + j] += static_cast<float>(alpha) * sums[j];
  });
}

}  // namespace headroom::kernels
