// Activations of hidden units: y (n,F) from x (n,F), for swiglu (n,2F) = [gate | x].
#pragma once

#include "core/activation_type.h"
#include "core/view.h"

namespace headroom::kernels {

// In the calling thread, for tiles of a parallel loop. y may be x where they have one size.
void activate(Activation f, Matrix<float> y, Matrix<const float> x);
// dx = dy f'(x). dx may be dy where they have one size.
void activate_backward(Activation f, Matrix<float> dx, Matrix<const float> dy,
                       Matrix<const float> x);
// Both at once, for what kept x alone: they share the exponentials.
void activate_again_and_backward(Activation f, Matrix<float> y, Matrix<float> dx,
                                 Matrix<const float> dy, Matrix<const float> x);

// The same for whole layers.
void activation_forward(View<float, 2> y, View<const float, 2> x, Activation f);
void activation_backward(View<float, 2> dx, View<const float, 2> dy, View<const float, 2> x,
                         Activation f);

}  // namespace headroom::kernels
