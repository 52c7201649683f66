// Element-wise activations. All views have the same shape.
#pragma once

#include "core/view.h"

namespace headroom::kernels {

void relu_forward(View<float, 2> y, View<const float, 2> x);
// dx = dy where x > 0, else 0. dx may be dy.
void relu_backward(View<float, 2> dx, View<const float, 2> dy, View<const float, 2> x);

// y = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) (Hendrycks and Gimpel 2016).
void gelu_tanh_forward(View<float, 2> y, View<const float, 2> x);
void gelu_tanh_backward(View<float, 2> dx, View<const float, 2> dy, View<const float, 2> x);

}  // namespace headroom::kernels
