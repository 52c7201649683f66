// Short vectors of float, by the compilers' vector extension: the same source for AVX2, AVX-512 and
// anything else. Sums over a vector run in one fixed order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/intrinsics.h"

namespace headroom::kernels {

#if defined(__AVX512F__)
inline constexpr std::size_t kLanes = 16;
#else
inline constexpr std::size_t kLanes = 8;
#endif

using Vec = float __attribute__((vector_size(kLanes * sizeof(float))));
using IntVec = std::int32_t __attribute__((vector_size(kLanes * sizeof(float))));

inline Vec load(const float* p) {
  Vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline void store(float* p, Vec v) { std::memcpy(p, &v, sizeof v); }
// Not Vec{} + x: that adds, for x may be -0.
inline Vec broadcast(float x) {
#if defined(__AVX512F__)
  return _mm512_set1_ps(x);
#elif defined(__AVX__)
  return _mm256_set1_ps(x);
#else
  return Vec{x, x, x, x, x, x, x, x};
#endif
}

// The first n < kLanes elements; the others are `fill`.
inline Vec load_part(const float* p, std::size_t n, float fill = 0) {
  Vec v = broadcast(fill);
  std::memcpy(&v, p, n * sizeof(float));
  return v;
}
inline void store_part(float* p, Vec v, std::size_t n) { std::memcpy(p, &v, n * sizeof(float)); }

// a * b + c rounded once, where the machine can: the same bits in whatever loop it stands.
inline Vec fused(Vec a, Vec b, Vec c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#else
  return a * b + c;
#endif
}

// b, if either is NaN.
inline Vec max(Vec a, Vec b) { return a > b ? a : b; }

inline float horizontal_sum(Vec v) {
  for (std::size_t half = kLanes / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) v[i] += v[i + half];
  return v[0];
}
inline float horizontal_max(Vec v) {
  float m = v[0];
  for (std::size_t i = 1; i < kLanes; ++i) m = v[i] > m ? v[i] : m;
  return m;
}

inline constexpr std::size_t round_up_to_lanes(std::size_t n) {
  return (n + kLanes - 1) / kLanes * kLanes;
}

namespace vector_detail {

// exp(x) = 2^n (p), n whole and |r| <= ln(2)/2: polynomial of Cephes' expf after reduction by ln 2
// in two parts. x must be finite and within -87.33 .. 88.72.
struct ScaledExp {
  Vec n, p;
};
inline ScaledExp scaled_exp(Vec x) {
  const Vec shift = broadcast(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  const Vec n = (x * 1.44269504088896341f + shift) - shift;
  const Vec r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  Vec p = broadcast(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return {n, (p * r) * r + r + 1.0f};
}

inline constexpr float kLeastExp = -87.33654f, kMostExp = 88.72283f;

}  // namespace vector_detail

// exp to about 1 ulp. Below -87.33 the result is 0 (denormals are flushed), above 88.72 it is +inf,
// and NaN stays NaN.
inline Vec exp(Vec x) {
  using namespace vector_detail;
  const Vec low = broadcast(kLeastExp), high = broadcast(kMostExp);
  // A NaN is compared false, and so clamped too.
  const Vec above = x > low ? x : low;
  const auto [n, p] = scaled_exp(above < high ? above : high);
  // 2^n in two factors: n reaches 128, one more than a float's exponent holds.
  const IntVec whole = __builtin_convertvector(n, IntVec), half = whole >> 1;
  const IntVec bits1 = (half + 127) << 23, bits2 = ((whole - half) + 127) << 23;
  Vec s1, s2;
  std::memcpy(&s1, &bits1, sizeof s1);
  std::memcpy(&s2, &bits2, sizeof s2);
  Vec y = (p * s1) * s2;
  y = x < low ? broadcast(0.0f) : y;
  y = x > high ? broadcast(__builtin_inff()) : y;
  return x == x ? y : x;
}

// The same bits for x <= 0, where 2^n is one factor and nothing overflows: the exp of a softmax.
inline Vec exp_nonpositive(Vec x) {
  // From -88 on n is -127, whose bits are those of 0. The clamp lets a NaN pass, which p keeps.
  const auto [n, p] = vector_detail::scaled_exp(max(broadcast(-88.0f), x));
  const IntVec bits = (__builtin_convertvector(n, IntVec) + 127) << 23;
  Vec scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return p * scale;
}

// tanh as 1 - 2 / (exp(2x) + 1): absolute error about 1e-7, exact at both ends.
inline Vec tanh(Vec x) { return 1.0f - 2.0f / (exp(x + x) + 1.0f); }

// exp(x^2) erfc(x) for x >= 0 to about 2e-7 of its value: a polynomial in t = 1 / (1 + x/2) without
// constant term, fitted for least relative error on 0 .. 12.
inline Vec scaled_erfc(Vec x) {
  const Vec t = 1.0f / (1.0f + 0.5f * x);
  Vec p = broadcast(-0.0593650304f);
  p = p * t + 0.286019504f;
  p = p * t - 0.490190357f;
  p = p * t + 0.28148669f;
  p = p * t - 0.0289792214f;
  p = p * t + 0.203681231f;
  p = p * t + 0.242853001f;
  p = p * t + 0.282409668f;
  p = p * t + 0.282084465f;
  return p * t;
}

inline float dot(const float* a, const float* b, std::size_t n) {
  Vec s{};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) s += load(a + i) * load(b + i);
  if (i < n) s += load_part(a + i, n - i) * load_part(b + i, n - i);
  return horizontal_sum(s);
}

inline float sum(const float* a, std::size_t n) {
  Vec s{};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) s += load(a + i);
  if (i < n) s += load_part(a + i, n - i);
  return horizontal_sum(s);
}

}  // namespace headroom::kernels
