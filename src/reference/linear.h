// Twin of kernels/linear.h in plain loops; nobody optimises it.
#pragma once

#include "core/view.h"

namespace headroom::reference {

template <class S>
void linear_forward(Matrix<S> y, Matrix<const S> x, View<const S, 2> w, View<const S, 2> bias,
                    double alpha) {
  for (std::size_t i = 0; i < y.rows; ++i)
    for (std::size_t j = 0; j < y.cols; ++j) {
      S sum{};
      for (std::size_t k = 0; k < x.cols; ++k) sum += x(i, k) * w(j, k);
      for (std::size_t m = 0; m < bias.dims[0]; ++m) sum += bias(m, j);
      y(i, j) = alpha * sum;
    }
}

template <class S>
void linear_backward_input(Matrix<S> dx, Matrix<const S> dy, View<const S, 2> w, double alpha,
                           double beta = 0) {
  for (std::size_t i = 0; i < dx.rows; ++i)
    for (std::size_t k = 0; k < dx.cols; ++k) {
      S sum{};
      for (std::size_t j = 0; j < dy.cols; ++j) sum += dy(i, j) * w(j, k);
      dx(i, k) = beta == 0 ? alpha * sum : alpha * sum + beta * dx(i, k);
    }
}

template <class S>
void linear_backward_params(View<S, 2> dw, View<S, 2> dbias, Matrix<const S> dy, Matrix<const S> x,
                            double alpha) {
  for (std::size_t i = 0; i < dy.rows; ++i)
    for (std::size_t j = 0; j < dy.cols; ++j) {
      for (std::size_t k = 0; k < x.cols; ++k) dw(j, k) += alpha * dy(i, j) * x(i, k);
      for (std::size_t m = 0; m < dbias.dims[0]; ++m) dbias(m, j) += alpha * dy(i, j);
    }
}

}  // namespace headroom::reference
