// Normalisations over the features of each row. x, y, dx, dy (n,C); statistics are one number a
// row.
#pragma once

#include "core/view.h"

namespace headroom::kernels {

// LayerNorm (Ba, Kiros, Hinton 2016): y = g (x - mean) * rstd + b, rstd = 1 / sqrt(var + eps),
// biased variance. g, b (C).
void layernorm_forward(View<float, 2> y, View<float, 1> mean, View<float, 1> rstd,
                       View<const float, 2> x, View<const float, 1> g, View<const float, 1> b,
                       double eps);
// dx is written, dg and db accumulate.
void layernorm_backward(View<float, 2> dx, View<float, 1> dg, View<float, 1> db,
                        View<const float, 2> dy, View<const float, 2> x, View<const float, 1> mean,
                        View<const float, 1> rstd, View<const float, 1> g);

// RMSNorm (Zhang and Sennrich 2019): y = g x * rrms, rrms = 1 / sqrt(mean of x^2 + eps), g (C).
void rmsnorm_forward(View<float, 2> y, View<float, 1> rrms, View<const float, 2> x,
                     View<const float, 1> g, double eps);
// dx is written, dg accumulates.
void rmsnorm_backward(View<float, 2> dx, View<float, 1> dg, View<const float, 2> dy,
                      View<const float, 2> x, View<const float, 1> rrms, View<const float, 1> g);

// The norm of Amsel et al.'s encoders: y = s x / max(||x||_2, eps) with one scalar s (1); a zero
// row gives 0. inverse (n) holds 1 / max(||x||, eps), 0 for a zero row.
void l2norm_forward(View<float, 2> y, View<float, 1> inverse, View<const float, 2> x,
                    View<const float, 1> s, double eps);
// dx is written, ds accumulates. row_sums (n) is scratch.
void l2norm_backward(View<float, 2> dx, View<float, 1> ds, View<float, 1> row_sums,
                     View<const float, 2> dy, View<const float, 2> x, View<const float, 1> inverse,
                     View<const float, 1> s, double eps);

}  // namespace headroom::kernels
