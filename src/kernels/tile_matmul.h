// Products of bfloat16 operands by the CPU's matrix tiles (AMX), sums in float32.
#pragma once

#include "core/view.h"

namespace headroom::kernels {

// Whether CPU and kernel let this process use them; asks the kernel once.
bool has_tiles();

// c (m,n) = alpha * op(a) op(b) + beta * c with alpha * op(a) and op(b) rounded to bfloat16, k > 0.
// Only where has_tiles(). May throw std::bad_alloc, at a thread's first product.
void tile_matmul(Matrix<float> c, Matrix<const float> a, bool transposed_a, Matrix<const float> b,
                 bool transposed_b, float alpha, float beta);

}  // namespace headroom::kernels
