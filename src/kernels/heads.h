// What happens to the projected queries and keys of each head before its scores, and to the heads'
// sums where no output map follows. Head-major columns: head h of size K owns columns
// h K .. h K + K - 1; all matrices may be column ranges of wider ones.
#pragma once

#include "core/view.h"

namespace headroom::kernels {

// QK normalisation (Henry et al. 2020): each row of each head becomes factor * x / ||x||_2, a zero
// row 0. x (n,H K) in place; inverse (n,H) holds 1 / ||x||, 0 for a zero row.
void normalize_heads_forward(Matrix<float> x, View<float, 2> inverse, double factor);
// dx (n,H K) in place: from the gradient by the result y (n,H K) to that by x.
void normalize_heads_backward(Matrix<float> dx, Matrix<const float> y, View<const float, 2> inverse,
                              double factor);

// Rotary positions (Su et al. 2021), halves split: (x_i, x_{i+K/2}) of token t turns by the angle t
// 10000^(-2i/K). x (B*T,H K) in place; table (T,K) holds the cosines, then the sines, of i = 0 ..
// K/2 - 1.
void rotate_heads_forward(Matrix<float> x, View<const float, 2> table);
// The gradient turns back, in place.
void rotate_heads_backward(Matrix<float> dx, View<const float, 2> table);

// y (n,H K): head h of x times scale (H).
void scale_heads_forward(Matrix<float> y, Matrix<const float> x, View<const float, 1> scale);
// dy (n,H K) becomes dx in place; dscale (H) accumulates.
void scale_heads_backward(Matrix<float> dy, View<float, 1> dscale, Matrix<const float> x,
                          View<const float, 1> scale);

// y (n,V) = alpha * (sum over the heads of z (n,H V) + sum over m of bias (m,V)).
void sum_heads_forward(Matrix<float> y, Matrix<const float> z, View<const float, 2> bias,
                       double alpha);
// dz is written; each row of dbias (m,V) += alpha * (sum over rows of dy).
void sum_heads_backward(Matrix<float> dz, View<float, 2> dbias, Matrix<const float> dy,
                        double alpha);

}  // namespace headroom::kernels
