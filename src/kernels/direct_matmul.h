// Products whose second operand is small: computed where the operands lie, without the copies, the
// allocation and the dispatch of a library's product.
#pragma once

#include <cstddef>

#include "core/view.h"
#include "kernels/small_matmul.h"

namespace headroom::kernels {

// The longest sums that direct_matmul has room to pack operands for.
inline constexpr std::size_t kMostDepth = 256;

// Whether direct_matmul beats the library for op(b) (k,n): by measurement.
inline bool direct_matmul_pays(std::size_t n, std::size_t k) { return n <= 64 && k <= kMostDepth; }

// c (m,n) = alpha * a b + beta * c, a (m,k), b (k,n) where transposed_b is false, else (n,k).
// k <= kMostDepth unless b lies as it is multiplied and n is a whole number of vectors.
void direct_matmul(Matrix<float> c, Strided a, Matrix<const float> b, bool transposed_b,
                   std::size_t k, float alpha, float beta);

}  // namespace headroom::kernels
