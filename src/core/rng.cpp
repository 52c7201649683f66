#include "core/rng.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <numbers>

#include "core/intrinsics.h"

namespace headroom {
namespace {

constexpr std::uint32_t kMul0 = 0xD2511F53u, kMul1 = 0xCD9E8D57u;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9u, kWeyl1 = 0xBB67AE85u;
constexpr std::size_t kLanes = 16;  // Philox blocks made side by side by the vector paths

// Words in lanes of 64 bits, of which only the low 32 mean anything: a product of two words fills a
// lane, and no round has to clear the upper halves.
#if defined(__AVX512F__)
constexpr std::size_t kWide = 8;
#else
constexpr std::size_t kWide = 4;
#endif
using Wide = std::uint64_t __attribute__((vector_size(kWide * sizeof(std::uint64_t))));
using Words = std::uint32_t __attribute__((vector_size(kWide * sizeof(std::uint32_t))));
#if defined(__AVX512F__)
constexpr Wide kLaneNumbers = {0, 1, 2, 3, 4, 5, 6, 7};
#else
constexpr Wide kLaneNumbers = {0, 1, 2, 3};
#endif

// The 64-bit products of the low words of `a` with b.
inline Wide multiply_low(Wide a, std::uint32_t b) {
#if defined(__AVX512F__)
  return (Wide)_mm512_mul_epu32((__m512i)a, _mm512_set1_epi64(b));
#elif defined(__AVX2__)
  return (Wide)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi64x(b));
#else
  return (a & 0xFFFFFFFFu) * b;
#endif
}

// kLanes blocks at counters counter[0] + lane; out[w][lane] is word w of that lane's block. Two
// vectors of blocks go side by side: a round waits for its products.
void philox_lanes(const std::array<std::uint32_t, 4>& counter,
                  const std::array<std::uint32_t, 2>& key, std::uint32_t (&out)[4][kLanes]) {
  constexpr std::size_t kPair = 2;
  for (std::size_t first = 0; first < kLanes; first += kPair * kWide) {
    Wide x[4][kPair];
    for (std::size_t i = 0; i < kPair; ++i) {
      x[0][i] = Wide{} + counter[0] + first + i * kWide + kLaneNumbers;
      for (std::size_t w = 1; w < 4; ++w) x[w][i] = Wide{} + counter[w];
    }
    std::uint32_t key0 = key[0], key1 = key[1];
    for (int round = 0; round < 10; ++round, key0 += kWeyl0, key1 += kWeyl1) {
      for (std::size_t i = 0; i < kPair; ++i) {
        const Wide p0 = multiply_low(x[0][i], kMul0), p1 = multiply_low(x[2][i], kMul1);
        x[0][i] = (p1 >> 32) ^ x[1][i] ^ key0;
        x[1][i] = p1;
        x[2][i] = (p0 >> 32) ^ x[3][i] ^ key1;
        x[3][i] = p0;
      }
    }
    for (std::size_t w = 0; w < 4; ++w) {
      for (std::size_t i = 0; i < kPair; ++i) {
        const auto words = __builtin_convertvector(x[w][i], Words);
        std::memcpy(&out[w][first + i * kWide], &words, sizeof words);
      }
    }
  }
}

// Natural logarithm for u in (0, 1], relative error below 3e-7 (Cephes logf's polynomial).
inline float log_unit(float u) {
  const std::uint32_t raw = std::bit_cast<std::uint32_t>(u);
  // Split u = m * 2^e with m in [sqrt(1/2), sqrt(2)).
  const std::uint32_t shifted = raw - 0x3F3504F3u;
  const float e = static_cast<float>(static_cast<std::int32_t>(shifted) >> 23);
  const float m = std::bit_cast<float>((shifted & 0x007FFFFFu) + 0x3F3504F3u);
  const float f = m - 1.0f;
  float p = 7.0376836292e-2f;
  p = p * f - 1.1514610310e-1f;
  p = p * f + 1.1676998740e-1f;
  p = p * f - 1.2420140846e-1f;
  p = p * f + 1.4249322787e-1f;
  p = p * f - 1.6668057665e-1f;
  p = p * f + 2.0000714765e-1f;
  p = p * f - 2.4999993993e-1f;
  p = p * f + 3.3333331174e-1f;
  const float f2 = f * f;
  return e * 0.693359375f + (f + (p * f * f2 - 0.5f * f2 + e * -2.12194440e-4f));
}

// sin and cos of 2 pi t for t in [0, 1), by the octant polynomials of Cephes sinf and cosf.
inline void sincos_turn(float t, float& s, float& c) {
  const float quarter = std::floor(t * 4.0f + 0.5f);                           // 0 .. 4
  const float x = (t - quarter * 0.25f) * (2.0f * std::numbers::pi_v<float>);  // |x| <= pi/4
  const float z = x * x;
  const float sx = x + x * z * (-1.6666654611e-1f + z * (8.3321608736e-3f - z * 1.9515295891e-4f));
  const float cx =
      1.0f - 0.5f * z +
      z * z * (4.166664568298827e-2f + z * (-1.388731625493765e-3f + z * 2.443315711809948e-5f));
  const std::uint32_t q = static_cast<std::uint32_t>(static_cast<std::int32_t>(quarter)) & 3u;
  const float a = (q & 1u) ? cx : sx, b = (q & 1u) ? sx : cx;
  s = (q & 2u) ? -a : a;
  c = (q == 1u || q == 2u) ? -b : b;
}

// Box and Muller (1958): two uniform words make two independent N(0, 1) numbers.
inline void box_muller(std::uint32_t u, std::uint32_t v, float& a, float& b) {
  // The full 32 bits of u in (0, 1): the tail reaches sqrt(-2 log 2^-33) = 6.76.
  const float unit = (static_cast<float>(static_cast<std::int32_t>(u >> 1)) + 0.5f) * 0x1p-31f;
  const float radius = std::sqrt(-2.0f * log_unit(unit > 1.0f ? 1.0f : unit));
  const float turn = static_cast<float>(static_cast<std::int32_t>(v >> 8)) * 0x1p-24f;
  float s, c;
  sincos_turn(turn, s, c);
  a = radius * c;
  b = radius * s;
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{kMul0} * counter[0];
    const std::uint64_t p1 = std::uint64_t{kMul1} * counter[2];
    counter = {
        static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(p1),
        static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

Random::Random(std::uint64_t seed, Purpose purpose, std::uint64_t step, std::uint64_t item) {
  assert(item >> 32 == 0);
  // The purpose is mixed into the key by one Philox call, so that neighbouring seeds and purposes
  // share nothing; step and item stand in the counter, the block number in its first word.
  const auto mixed =
      philox4x32({static_cast<std::uint32_t>(purpose), 0x68656164u, 0x726F6F6Du, 0},
                 {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  key_ = {mixed[0], mixed[1]};
  counter_ = {0, static_cast<std::uint32_t>(item), static_cast<std::uint32_t>(step),
              static_cast<std::uint32_t>(step >> 32)};
}

void Random::refill() {
  block_ = philox4x32(counter_, key_);
  ++counter_[0];
  used_ = 0;
}

std::uint32_t Random::bits() {
  if (used_ == 4) refill();
  return block_[used_++];
}

double Random::uniform() {
  const std::uint64_t high = bits(), low = bits();
  return static_cast<double>(((high << 32) | low) >> 11) * 0x1p-53;
}

double Random::uniform(double low, double high) { return low + (high - low) * uniform(); }

double Random::normal() {
  const std::uint32_t u = bits(), v = bits();
  const double unit = (static_cast<double>(u) + 0.5) * 0x1p-32;
  return std::sqrt(-2.0 * std::log(unit)) *
         std::cos(2.0 * std::numbers::pi * (static_cast<double>(v) * 0x1p-32));
}

std::uint32_t Random::below(std::uint32_t n) {
  assert(n > 0);
  // Lemire (2019): multiply, and reject the few words that would bias.
  std::uint64_t product = std::uint64_t{bits()} * n;
  if (static_cast<std::uint32_t>(product) < n) {
    const std::uint32_t threshold = (0u - n) % n;
    while (static_cast<std::uint32_t>(product) < threshold) product = std::uint64_t{bits()} * n;
  }
  return static_cast<std::uint32_t>(product >> 32);
}

void Random::fill_normal(std::span<float> out) {
  used_ = 4;  // starts at a fresh block: what was drawn before cannot shift it
  std::uint32_t words[4][kLanes];
  float normals[4][kLanes];
  for (std::size_t done = 0; done < out.size();) {
    philox_lanes(counter_, key_, words);
    for (std::size_t l = 0; l < kLanes; ++l) {
      box_muller(words[0][l], words[1][l], normals[0][l], normals[1][l]);
      box_muller(words[2][l], words[3][l], normals[2][l], normals[3][l]);
    }
    for (std::size_t w = 0; w < 4 && done < out.size(); ++w) {
      const std::size_t n = std::min(kLanes, out.size() - done);
      std::copy_n(normals[w], n, out.begin() + static_cast<std::ptrdiff_t>(done));
      done += n;
    }
    counter_[0] += kLanes;
  }
}

void Random::fill_uniform(std::span<float> out, float low, float high) {
  used_ = 4;
  std::uint32_t words[4][kLanes];
  for (std::size_t done = 0; done < out.size();) {
    philox_lanes(counter_, key_, words);
    for (std::size_t w = 0; w < 4 && done < out.size(); ++w) {
      const std::size_t n = std::min(kLanes, out.size() - done);
      for (std::size_t l = 0; l < n; ++l) {
        const float unit =
            static_cast<float>(static_cast<std::int32_t>(words[w][l] >> 8)) * 0x1p-24f;
        out[done + l] = low + (high - low) * unit;
      }
      done += n;
    }
    counter_[0] += kLanes;
  }
}

}  // namespace headroom
