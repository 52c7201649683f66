// Element-wise activations. All views have the same shape, but for swiglu's.
#pragma once

#include "core/view.h"

namespace headroom::kernels {

void relu_forward(View<float, 2> y, View<const float, 2> x);
// dx = dy where x > 0, else 0. dx may be dy.
void relu_backward(View<float, 2> dx, View<const float, 2> dy, View<const float, 2> x);

// y = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) (Hendrycks and Gimpel 2016).
void gelu_tanh_forward(View<float, 2> y, View<const float, 2> x);
void gelu_tanh_backward(View<float, 2> dx, View<const float, 2> dy, View<const float, 2> x);

// y = x Phi(x), Phi the normal distribution (Hendrycks and Gimpel 2016).
void gelu_forward(View<float, 2> y, View<const float, 2> x);
void gelu_backward(View<float, 2> dx, View<const float, 2> dy, View<const float, 2> x);

// y = x / (1 + exp(-x)) (Elfwing, Uchibe, Doya 2018).
void silu_forward(View<float, 2> y, View<const float, 2> x);
void silu_backward(View<float, 2> dx, View<const float, 2> dy, View<const float, 2> x);

// y (n,F) = silu(gate) * up, x (n,2F) = [gate | up] (Shazeer 2020). dx (n,2F) is written, dy (n,F).
void swiglu_forward(View<float, 2> y, View<const float, 2> x);
void swiglu_backward(View<float, 2> dx, View<const float, 2> dy, View<const float, 2> x);

}  // namespace headroom::kernels
