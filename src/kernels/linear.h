// Linear maps over the rows of a batch. Letters: n rows, in and out sizes, m bias rows.
#pragma once

#include "core/view.h"

namespace headroom::kernels {

// y (n,out) = alpha * (x (n,in) w^T + sum over m of bias (m,out)); w (out,in). Without bias m = 0.
void linear_forward(Matrix<float> y, Matrix<const float> x, View<const float, 2> w,
                    View<const float, 2> bias, double alpha);

// dx (n,in) = alpha * dy (n,out) w + beta * dx; with beta = 0 what was there does not matter.
void linear_backward_input(Matrix<float> dx, Matrix<const float> dy, View<const float, 2> w,
                           double alpha, double beta = 0);

// dw (out,in) += alpha * dy^T x; dbias as below.
void linear_backward_params(View<float, 2> dw, View<float, 2> dbias, Matrix<const float> dy,
                            Matrix<const float> x, double alpha);
// Each row of dbias (m,out) += alpha * (sum over rows of dy (n,out)).
void bias_backward(View<float, 2> dbias, Matrix<const float> dy, double alpha);

}  // namespace headroom::kernels
