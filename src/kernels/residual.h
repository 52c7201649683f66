// Sums over whole activations.
#pragma once

#include "core/view.h"

namespace headroom::kernels {

// z = x + y, all (n,C). z may be x or y.
void add_forward(View<float, 2> z, View<const float, 2> x, View<const float, 2> y);

// x (B,T,C) += table (>=T,C), row t to every token t of every sequence.
void add_positions_forward(View<float, 3> x, View<const float, 2> table);
// dtable (>=T,C) += sum over B of dx (B,T,C).
void add_positions_backward(View<float, 2> dtable, View<const float, 3> dx);

}  // namespace headroom::kernels
