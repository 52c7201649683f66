#include "kernels/loss.h"

#include <cassert>

namespace headroom::kernels {

double squared_loss(View<float, 3> doutput, View<const float, 3> output,
                    View<const float, 3> target, std::size_t stride, double scale) {
  assert((target.dims[1] - 1) * stride < output.dims[1] && target.dims[2] == output.dims[2]);
  const std::size_t tokens = output.dims[1], cols = output.dims[2];
  const float two_scale = static_cast<float>(2 * scale);
  double total = 0;
  for (std::size_t b = 0; b < output.dims[0]; ++b) {
    for (std::size_t t = 0; t < tokens; ++t) {
      float* d = doutput.data + (b * tokens + t) * cols;
      const std::size_t p = t / stride;
      if (t % stride != 0 || p >= target.dims[1]) {
        for (std::size_t c = 0; c < cols; ++c) d[c] = 0;
        continue;
      }
      const float* o = output.data + (b * tokens + t) * cols;
      const float* y = target.data + (b * target.dims[1] + p) * cols;
      for (std::size_t c = 0; c < cols; ++c) {
        const float e = o[c] - y[c];
        d[c] = two_scale * e;
        total += static_cast<double>(e) * static_cast<double>(e);
      }
    }
  }
  return total * scale;
}

}  // namespace headroom::kernels
