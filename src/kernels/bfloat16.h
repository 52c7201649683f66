// bfloat16: float32's sign, exponent and first 7 bits of the fraction.
#pragma once

#include <bit>
#include <cstdint>

namespace headroom::kernels {

// The nearest bfloat16, of two equally near the even one; NaN stays NaN.
inline std::uint16_t to_bfloat16(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

inline float from_bfloat16(std::uint16_t x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16);
}

}  // namespace headroom::kernels
