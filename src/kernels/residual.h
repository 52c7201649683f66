// Sums over whole activations.
#pragma once

#include "core/view.h"

namespace headroom::kernels {

// z = x + y, all (n,C). z may be x or y.
void add_forward(View<float, 2> z, View<const float, 2> x, View<const float, 2> y);

// x (B*T,P) += table (>=T,P), row t to every token t of every sequence of `tokens` = T.
void add_positions_forward(Matrix<float> x, View<const float, 2> table, std::size_t tokens);
// dtable (>=T,P) += sum over B of dx (B*T,P).
void add_positions_backward(View<float, 2> dtable, Matrix<const float> dx, std::size_t tokens);

}  // namespace headroom::kernels
