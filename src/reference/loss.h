// Twin of kernels/loss.h in plain loops. The targets are data and stay float.
#pragma once

#include <cmath>
#include <complex>

#include "core/prediction.h"
#include "core/view.h"
#include "reference/scalar.h"

namespace headroom::reference {

// The sum of loss(output, target, gradient) over what is read; it writes the gradient, which is 0
// elsewhere.
template <class S, class Loss>
S summed_loss(View<S, 3> doutput, View<const S, 3> output, View<const float, 3> target, ReadAt at,
              const Loss& loss) {
  S total{};
  for (std::size_t i = 0; i < doutput.size(); ++i) doutput.data[i] = S{};
  for (std::size_t b = 0; b < target.dims[0]; ++b)
    for (std::size_t p = 0; p < target.dims[1]; ++p)
      for (std::size_t c = 0; c < target.dims[2]; ++c)
        total += loss(output(b, at.token(p), c), static_cast<double>(target(b, p, c)),
                      doutput(b, at.token(p), c));
  return total;
}

template <class S>
S squared_loss(View<S, 3> doutput, View<const S, 3> output, View<const float, 3> target, ReadAt at,
               double scale) {
  return summed_loss<S>(doutput, output, target, at, [&](S o, double y, S& d) {
    const S e = o - y;
    d = 2.0 * scale * e;
    return scale * e * e;
  });
}

template <class S>
S logistic_loss(View<S, 3> doutput, View<const S, 3> output, View<const float, 3> target, ReadAt at,
                double scale) {
  return summed_loss<S>(doutput, output, target, at, [&](S o, double y, S& d) {
    const S margin = y * o;
    // log(1 + exp(-margin)) on the side that cannot overflow.
    const bool right = real_part(margin) > 0;
    const S tail = std::exp(right ? -margin : margin);
    d = -scale * y * (right ? tail : S(1.0)) / (1.0 + tail);
    return scale * (std::log(1.0 + tail) - (right ? S{} : margin));
  });
}

}  // namespace headroom::reference
