// Products whose second operand is small: computed where the operands lie, without the copies, the
// allocation and the dispatch of a library's product.
#pragma once

#include <cstddef>

#include "core/view.h"
#include "kernels/small_matmul.h"

namespace headroom::kernels {

// Whether direct_matmul beats the library for op(b) (k,n): by measurement.
inline bool direct_matmul_pays(std::size_t n, std::size_t k) { return n <= 64 && k <= 256; }

// c (m,n) = alpha * a b + beta * c, a (m,k), b (k,n) where transposed_b is false, else (n,k).
void direct_matmul(Matrix<float> c, Strided a, Matrix<const float> b, bool transposed_b,
                   std::size_t k, float alpha, float beta);

}  // namespace headroom::kernels
