// Random points and the arithmetic on them that samplers share. Everything writes into the caller's
// memory and allocates nothing.
#pragma once

#include <cstddef>
#include <cstring>

#include "core/rng.h"
#include "core/view.h"

namespace headroom {

// Sums over coordinates run in 8 partial sums that are folded at the end: a fixed order, the same
// with every instruction set. Spelt with the compilers' vector type, since neither g++ nor clang
// may reorder a plain sum of floats; the vectors stay inside one function, for passing them would
// tie the ABI to the ISA.
using SumLanes = float __attribute__((vector_size(32)));
enum class SumOf { kProducts, kSquaredDifferences };

template <SumOf kOf>
inline float sum_in_lanes(const float* a, const float* b, std::size_t n) {
  constexpr std::size_t kLanes = sizeof(SumLanes) / sizeof(float);
  SumLanes sum{};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    SumLanes x, y;
    std::memcpy(&x, a + i, sizeof x);
    std::memcpy(&y, b + i, sizeof y);
    if constexpr (kOf == SumOf::kProducts) {
      sum += x * y;
    } else {
      sum += (x - y) * (x - y);
    }
  }
  float total = ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
  for (; i < n; ++i) {
    total += kOf == SumOf::kProducts ? a[i] * b[i] : (a[i] - b[i]) * (a[i] - b[i]);
  }
  return total;
}

// <a, b>, n coordinates each.
inline float dot(const float* a, const float* b, std::size_t n) {
  return sum_in_lanes<SumOf::kProducts>(a, b, n);
}

// ||a - b||^2, n coordinates each.
inline float squared_distance(const float* a, const float* b, std::size_t n) {
  return sum_in_lanes<SumOf::kSquaredDifferences>(a, b, n);
}

// Rows of x (N,d) independent and uniform on the unit sphere: normalised Gaussians.
void fill_sphere(Random& random, View<float, 2> x);

// Rows of x (N,d), N <= d, a Haar-distributed orthonormal frame: the Q of the QR decomposition of a
// Gaussian matrix whose R has a positive diagonal, which is what Gram-Schmidt yields.
void fill_orthonormal(Random& random, View<float, 2> x);

// Makes row i of x (N,d) a unit vector orthogonal to the rows before it, which are orthonormal or
// 0; a row in their span may become 0, and then the answer is false.
bool orthonormalize_row(View<float, 2> x, std::size_t i);

// The rows of the second half of x (2n,d) become minus those of the first half.
void mirror(View<float, 2> x);

}  // namespace headroom
