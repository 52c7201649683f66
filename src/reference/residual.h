// Twin of kernels/residual.h in plain loops.
#pragma once

#include "core/view.h"

namespace headroom::reference {

template <class S>
void add_forward(View<S, 2> z, View<const S, 2> x, View<const S, 2> y) {
  for (std::size_t i = 0; i < z.size(); ++i) z.data[i] = x.data[i] + y.data[i];
}

template <class S>
void add_positions_forward(View<S, 3> x, View<const S, 2> table) {
  for (std::size_t b = 0; b < x.dims[0]; ++b)
    for (std::size_t t = 0; t < x.dims[1]; ++t)
      for (std::size_t c = 0; c < x.dims[2]; ++c) x(b, t, c) += table(t, c);
}

template <class S>
void add_positions_backward(View<S, 2> dtable, View<const S, 3> dx) {
  for (std::size_t b = 0; b < dx.dims[0]; ++b)
    for (std::size_t t = 0; t < dx.dims[1]; ++t)
      for (std::size_t c = 0; c < dx.dims[2]; ++c) dtable(t, c) += dx(b, t, c);
}

}  // namespace headroom::reference
