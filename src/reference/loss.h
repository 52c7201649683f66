// Twin of kernels/loss.h in plain loops. The targets are data and stay float.
#pragma once

#include "core/view.h"

namespace headroom::reference {

template <class S>
S squared_loss(View<S, 3> doutput, View<const S, 3> output, View<const float, 3> target,
               std::size_t stride, double scale) {
  S total{};
  for (std::size_t i = 0; i < doutput.size(); ++i) doutput.data[i] = S{};
  for (std::size_t b = 0; b < target.dims[0]; ++b)
    for (std::size_t p = 0; p < target.dims[1]; ++p)
      for (std::size_t c = 0; c < target.dims[2]; ++c) {
        const S e = output(b, p * stride, c) - static_cast<double>(target(b, p, c));
        doutput(b, p * stride, c) = 2.0 * scale * e;
        total += scale * e * e;
      }
  return total;
}

}  // namespace headroom::reference
