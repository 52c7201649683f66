#include "kernels/loss.h"

#include <cassert>
#include <cmath>
#include <numeric>

namespace headroom::kernels {

namespace {

// The sum of loss(output, target, gradient) over what is read; it writes the gradient. In kParts
// partial sums, for one alone would wait for every addition.
template <class Loss>
double summed(View<float, 3> doutput, View<const float, 3> output, View<const float, 3> target,
              ReadAt at, const Loss& loss) {
  assert(at.token(target.dims[1] - 1) < output.dims[1] && target.dims[2] == output.dims[2]);
  const std::size_t tokens = output.dims[1], cols = output.dims[2];
  constexpr std::size_t kParts = 8;
  double parts[kParts] = {};
  for (std::size_t b = 0; b < output.dims[0]; ++b) {
    for (std::size_t t = 0; t < tokens; ++t) {
      float* d = doutput.data + (b * tokens + t) * cols;
      const std::size_t p = t < at.first ? target.dims[1] : (t - at.first) / at.stride;
      if (p >= target.dims[1] || t != at.token(p)) {
        for (std::size_t c = 0; c < cols; ++c) d[c] = 0;
        continue;
      }
      const float* o = output.data + (b * tokens + t) * cols;
      const float* y = target.data + (b * target.dims[1] + p) * cols;
      std::size_t c = 0;
      for (; c + kParts <= cols; c += kParts)
        for (std::size_t i = 0; i < kParts; ++i) parts[i] += loss(o[c + i], y[c + i], d[c + i]);
      for (std::size_t i = 0; c < cols; ++c, ++i) parts[i] += loss(o[c], y[c], d[c]);
    }
  }
  return std::accumulate(parts, parts + kParts, 0.0);
}

}  // namespace

double squared_loss(View<float, 3> doutput, View<const float, 3> output,
                    View<const float, 3> target, ReadAt at, double scale) {
  const float two_scale = static_cast<float>(2 * scale);
  return summed(doutput, output, target, at,
                [&](float o, float y, float& d) {
                  const float e = o - y;
                  d = two_scale * e;
                  return static_cast<double>(e) * static_cast<double>(e);
                }) *
         scale;
}

double logistic_loss(View<float, 3> doutput, View<const float, 3> output,
                     View<const float, 3> target, ReadAt at, double scale) {
  return summed(doutput, output, target, at,
                [&](float o, float y, float& d) {
                  const double margin = double{y} * double{o};
                  const double tail = std::exp(-std::abs(margin));  // in (0, 1]: never overflows
                  const double wrong = (margin > 0 ? tail : 1.0) / (1 + tail);
                  d = static_cast<float>(-scale * double{y} * wrong);
                  return std::log1p(tail) + (margin > 0 ? 0.0 : -margin);
                }) *
         scale;
}

}  // namespace headroom::kernels
