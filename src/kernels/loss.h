// The losses of a batch and their gradients.
#pragma once

#include <cstddef>

#include "core/prediction.h"
#include "core/view.h"

namespace headroom::kernels {

// The sum over items, predictions and coordinates of (output - target)^2, times `scale` (1 / (B P)
// for the mean over predictions). output (B,T,O) is read at tokens at.token(p); target (B,P,O).
// doutput (B,T,O) is written: 2 scale (output - target) at those tokens and 0 elsewhere.
// Returns the loss in double; sums run item by item in order.
double squared_loss(View<float, 3> doutput, View<const float, 3> output,
                    View<const float, 3> target, ReadAt at, double scale);

// The same of log(1 + exp(-target output)) for targets -1 and 1: the binary cross-entropy, the
// output being the logit of 1. Finite for every finite output.
double logistic_loss(View<float, 3> doutput, View<const float, 3> output,
                     View<const float, 3> target, ReadAt at, double scale);

}  // namespace headroom::kernels
