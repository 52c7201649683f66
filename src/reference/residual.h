// Twin of kernels/residual.h in plain loops.
#pragma once

#include "core/view.h"

namespace headroom::reference {

template <class S>
void add_forward(View<S, 2> z, View<const S, 2> x, View<const S, 2> y) {
  for (std::size_t i = 0; i < z.size(); ++i) z.data[i] = x.data[i] + y.data[i];
}

template <class S>
void add_positions_forward(Matrix<S> x, View<const S, 2> table, std::size_t tokens) {
  for (std::size_t i = 0; i < x.rows; ++i)
    for (std::size_t c = 0; c < x.cols; ++c) x(i, c) += table(i % tokens, c);
}

template <class S>
void add_positions_backward(View<S, 2> dtable, Matrix<const S> dx, std::size_t tokens) {
  for (std::size_t i = 0; i < dx.rows; ++i)
    for (std::size_t c = 0; c < dx.cols; ++c) dtable(i % tokens, c) += dx(i, c);
}

}  // namespace headroom::reference
