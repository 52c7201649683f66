// The squared loss of a batch and its gradient.
#pragma once

#include <cstddef>

#include "core/view.h"

namespace headroom::kernels {

// The sum over items, predictions and coordinates of (output - target)^2, times `scale` (1 / (B P)
// for the mean over predictions). output (B,T,O) is read at tokens p * stride; target (B,P,O).
// doutput (B,T,O) is written: 2 scale (output - target) at those tokens and 0 elsewhere.
// Returns the loss in double; sums run item by item in order.
double squared_loss(View<float, 3> doutput, View<const float, 3> output,
                    View<const float, 3> target, std::size_t stride, double scale);

}  // namespace headroom::kernels
