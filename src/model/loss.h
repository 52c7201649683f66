// The loss of predictions and its gradient by the model's output, whichever the task's is.
#pragma once

#include "model/ops.h"

namespace headroom {

// As kernels/loss.h; returns double for float, else S.
template <class S>
auto prediction_loss(LossType type, View<S, 3> doutput, View<const S, 3> output,
                     View<const float, 3> target, ReadAt at, double scale) {
  return type == LossType::kLogistic ? ops::logistic_loss<S>(doutput, output, target, at, scale)
                                     : ops::squared_loss<S>(doutput, output, target, at, scale);
}

}  // namespace headroom
