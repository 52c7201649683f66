// Products of bfloat16 operands by the CPU's matrix tiles (AMX), sums in float32.
#pragma once

#include <cstddef>

#include "core/view.h"

namespace headroom::kernels {

// Whether CPU and kernel let this process use them; asks the kernel once.
bool has_tiles();

// c (m,n) = alpha * op(a) op(b) + beta * c with alpha * op(a) and op(b) rounded to bfloat16, k > 0.
// Only where has_tiles(). May throw std::bad_alloc, at a thread's first product.
void tile_matmul(Matrix<float> c, Matrix<const float> a, bool transposed_a, Matrix<const float> b,
                 bool transposed_b, float alpha, float beta);

// The same in two parts. An operand in tiles: `across` rows of op(a) or columns of op(b), `deep`
// numbers of a sum. The memory begins at a cache line.
std::size_t tile_floats(std::size_t across, std::size_t deep);
void lay_out_tiles(float* to, Matrix<const float> x, bool transposed, bool left);
// c (m,n) = op(a) op(b) + beta * c of operands (m, deep) and (deep, n) in tiles.
void multiply_tiles(Matrix<float> c, const float* left, const float* right, std::size_t deep,
                    float beta);

}  // namespace headroom::kernels
