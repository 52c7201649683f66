// Twin of kernels/heads.h in plain loops.
#pragma once

#include "core/view.h"
#include "reference/scalar.h"

namespace headroom::reference {

template <class S>
void normalize_heads_forward(Matrix<S> x, View<S, 2> inverse, double factor) {
  const std::size_t heads = inverse.dims[1], size = x.cols / heads;
  for (std::size_t i = 0; i < x.rows; ++i)
    for (std::size_t h = 0; h < heads; ++h) {
      S* head = x.row(i) + h * size;
      const S length = norm_of(head, size);
      inverse(i, h) = real_part(length) == 0 ? S{} : 1.0 / length;
      for (std::size_t c = 0; c < size; ++c) head[c] *= factor * inverse(i, h);
    }
}

template <class S>
void normalize_heads_backward(Matrix<S> dx, Matrix<const S> y, View<const S, 2> inverse,
                              double factor) {
  const std::size_t heads = inverse.dims[1], size = dx.cols / heads;
  for (std::size_t i = 0; i < dx.rows; ++i)
    for (std::size_t h = 0; h < heads; ++h) {
      S along{};
      for (std::size_t c = h * size; c < (h + 1) * size; ++c) along += dx(i, c) * y(i, c);
      for (std::size_t c = h * size; c < (h + 1) * size; ++c)
        dx(i, c) = factor * inverse(i, h) * (dx(i, c) - along / (factor * factor) * y(i, c));
    }
}

// Turns each head of each row; sign -1 turns back.
template <class S>
void rotate(Matrix<S> x, View<const S, 2> table, double sign) {
  const std::size_t tokens = table.dims[0], size = table.dims[1], half = size / 2;
  for (std::size_t i = 0; i < x.rows; ++i)
    for (std::size_t h = 0; h < x.cols; h += size)
      for (std::size_t c = 0; c < half; ++c) {
        const S cosine = table(i % tokens, c), sine = sign * table(i % tokens, c + half);
        const S a = x(i, h + c), b = x(i, h + c + half);
        x(i, h + c) = a * cosine - b * sine;
        x(i, h + c + half) = a * sine + b * cosine;
      }
}
template <class S>
void rotate_heads_forward(Matrix<S> x, View<const S, 2> table) {
  rotate<S>(x, table, 1.0);
}
template <class S>
void rotate_heads_backward(Matrix<S> dx, View<const S, 2> table) {
  rotate<S>(dx, table, -1.0);
}

template <class S>
void scale_heads_forward(Matrix<S> y, Matrix<const S> x, View<const S, 1> scale) {
  const std::size_t size = x.cols / scale.size();
  for (std::size_t i = 0; i < x.rows; ++i)
    for (std::size_t c = 0; c < x.cols; ++c) y(i, c) = scale(c / size) * x(i, c);
}

template <class S>
void scale_heads_backward(Matrix<S> dy, View<S, 1> dscale, Matrix<const S> x,
                          View<const S, 1> scale) {
  const std::size_t size = x.cols / scale.size();
  for (std::size_t i = 0; i < x.rows; ++i)
    for (std::size_t c = 0; c < x.cols; ++c) {
      dscale(c / size) += dy(i, c) * x(i, c);
      dy(i, c) *= scale(c / size);
    }
}

template <class S>
void sum_heads_forward(Matrix<S> y, Matrix<const S> z, View<const S, 2> bias, double alpha) {
  for (std::size_t i = 0; i < y.rows; ++i)
    for (std::size_t c = 0; c < y.cols; ++c) {
      S sum{};
      for (std::size_t h = 0; h < z.cols; h += y.cols) sum += z(i, h + c);
      for (std::size_t m = 0; m < bias.dims[0]; ++m) sum += bias(m, c);
      y(i, c) = alpha * sum;
    }
}

template <class S>
void sum_heads_backward(Matrix<S> dz, View<S, 2> dbias, Matrix<const S> dy, double alpha) {
  for (std::size_t i = 0; i < dy.rows; ++i)
    for (std::size_t c = 0; c < dy.cols; ++c) {
      for (std::size_t h = 0; h < dz.cols; h += dy.cols) dz(i, h + c) = alpha * dy(i, c);
      for (std::size_t m = 0; m < dbias.dims[0]; ++m) dbias(m, c) += alpha * dy(i, c);
    }
}

}  // namespace headroom::reference
