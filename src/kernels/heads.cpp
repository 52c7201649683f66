#include "kernels/heads.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "kernels/linear.h"
#include "kernels/rows.h"
#include "kernels/vector.h"

namespace headroom::kernels {
namespace {

// body(row) over rows 0 .. n-1 of `cols` elements, in parallel tiles.
template <class Body>
void for_each_row(std::size_t n, std::size_t cols, const Body& body) {
  parallel_rows(n, elementwise_rows(cols), [&](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) body(i);
  });
}

// Turns each head of each row; `sign` -1 turns back.
void rotate(Matrix<float> x, View<const float, 2> table, float sign) {
  const std::size_t tokens = table.dims[0], size = table.dims[1], half = size / 2;
  for_each_row(x.rows, x.cols, [&](std::size_t i) {
    const float* cosine = table.data + i % tokens * size;
    const float* sine = cosine + half;
    for (float* head = x.row(i); head < x.row(i) + x.cols; head += size)
      for (std::size_t c = 0; c < half; ++c) {
        const float a = head[c], b = head[c + half], s = sign * sine[c];
        head[c] = a * cosine[c] - b * s;
        head[c + half] = a * s + b * cosine[c];
      }
  });
}

}  // namespace

void normalize_heads_forward(Matrix<float> x, View<float, 2> inverse, double factor) {
  const std::size_t heads = inverse.dims[1], size = x.cols / heads;
  for_each_row(x.rows, x.cols, [&](std::size_t i) {
    for (std::size_t h = 0; h < heads; ++h) {
      float* head = x.row(i) + h * size;
      const float length = std::sqrt(dot(head, head, size));
      // A NaN length stays one: divergence must be seen.
      const float inv = length > 0 ? 1.0f / length : (length == 0 ? 0.0f : length);
      const float f = static_cast<float>(factor) * inv;
      for (std::size_t c = 0; c < size; ++c) head[c] *= f;
      inverse.data[i * heads + h] = inv;
    }
  });
}

void normalize_heads_backward(Matrix<float> dx, Matrix<const float> y, View<const float, 2> inverse,
                              double factor) {
  const std::size_t heads = inverse.dims[1], size = dx.cols / heads;
  const float f = static_cast<float>(factor), per_square = 1.0f / (f * f);
  for_each_row(dx.rows, dx.cols, [&](std::size_t i) {
    for (std::size_t h = 0; h < heads; ++h) {
      float* d = dx.row(i) + h * size;
      const float* head = y.row(i) + h * size;
      const float along = dot(d, head, size) * per_square, outer = f * inverse.data[i * heads + h];
      for (std::size_t c = 0; c < size; ++c) d[c] = outer * (d[c] - along * head[c]);
    }
  });
}

void rotate_heads_forward(Matrix<float> x, View<const float, 2> table) { rotate(x, table, 1.0f); }
void rotate_heads_backward(Matrix<float> dx, View<const float, 2> table) {
  rotate(dx, table, -1.0f);
}

void scale_heads_forward(Matrix<float> y, Matrix<const float> x, View<const float, 1> scale) {
  const std::size_t heads = scale.size(), size = x.cols / heads;
  for_each_row(x.rows, x.cols, [&](std::size_t i) {
    for (std::size_t h = 0; h < heads; ++h)
      for (std::size_t c = h * size; c < (h + 1) * size; ++c)
        y.row(i)[c] = scale.data[h] * x.row(i)[c];
  });
}

void scale_heads_backward(Matrix<float> dy, View<float, 1> dscale, Matrix<const float> x,
                          View<const float, 1> scale) {
  const std::size_t heads = scale.size(), size = x.cols / heads;
  // One head a tile, down all rows in order: the threads change no bit.
  parallel_for(heads, [&](std::size_t h) {
    double sum = 0;
    for (std::size_t i = 0; i < x.rows; ++i) {
      float* d = dy.row(i) + h * size;
      sum += static_cast<double>(dot(d, x.row(i) + h * size, size));
      for (std::size_t c = 0; c < size; ++c) d[c] *= scale.data[h];
    }
    dscale.data[h] += static_cast<float>(sum);
  });
}

void sum_heads_forward(Matrix<float> y, Matrix<const float> z, View<const float, 2> bias,
                       double alpha) {
  for_each_row(y.rows, z.cols, [&](std::size_t i) {
    float* row = y.row(i);
    std::fill_n(row, y.cols, 0.0f);
    for (std::size_t m = 0; m < bias.dims[0]; ++m)
      for (std::size_t c = 0; c < y.cols; ++c) row[c] += bias.data[m * y.cols + c];
    for (std::size_t h = 0; h < z.cols; h += y.cols)
      for (std::size_t c = 0; c < y.cols; ++c) row[c] += z.row(i)[h + c];
    for (std::size_t c = 0; c < y.cols; ++c) row[c] *= static_cast<float>(alpha);
  });
}

void sum_heads_backward(Matrix<float> dz, View<float, 2> dbias, Matrix<const float> dy,
                        double alpha) {
  for_each_row(dy.rows, dz.cols, [&](std::size_t i) {
    for (std::size_t h = 0; h < dz.cols; h += dy.cols)
      for (std::size_t c = 0; c < dy.cols; ++c)
        dz.row(i)[h + c] = static_cast<float>(alpha) * dy.row(i)[c];
  });
  bias_backward(dbias, dy, alpha);
}

}  // namespace headroom::kernels
