#include "core/hash.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

namespace headroom {
namespace {

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87u, kPrime2 = 0xC2B2AE3D27D4EB4Fu,
                        kPrime3 = 0x165667B19E3779F9u, kPrime4 = 0x85EBCA77C2B2AE63u,
                        kPrime5 = 0x27D4EB2F165667C5u;
constexpr std::size_t kStripe = 32;

static_assert(std::endian::native == std::endian::little, "words are read as they lie in memory");

template <class Word>
std::uint64_t read_word(const unsigned char* p) {
  Word word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

std::uint64_t round_of(std::uint64_t lane, std::uint64_t word) {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

void add_stripe(std::array<std::uint64_t, 4>& lanes, const unsigned char* p) {
  for (std::size_t i = 0; i < 4; ++i)
    lanes[i] = round_of(lanes[i], read_word<std::uint64_t>(p + 8 * i));
}

}  // namespace

void Hash64::add(std::string_view bytes) {
  const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t n = bytes.size();
  total_ += n;
  if (n_rest_ > 0) {
    const std::size_t taken = std::min(n, kStripe - n_rest_);
    std::copy_n(p, taken, rest_.begin() + static_cast<std::ptrdiff_t>(n_rest_));
    n_rest_ += taken;
    p += taken;
    n -= taken;
    if (n_rest_ < kStripe) return;
    add_stripe(lanes_, rest_.data());
    n_rest_ = 0;
  }
  for (; n >= kStripe; p += kStripe, n -= kStripe) add_stripe(lanes_, p);
  std::copy_n(p, n, rest_.begin());
  n_rest_ = n;
}

std::uint64_t Hash64::digest() const {
  std::uint64_t h = kPrime5;  // seed 0
  if (total_ >= kStripe) {
    h = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) +
        std::rotl(lanes_[3], 18);
    for (const std::uint64_t lane : lanes_) h = (h ^ round_of(0, lane)) * kPrime1 + kPrime4;
  }
  h += total_;
  const unsigned char* p = rest_.data();
  std::size_t n = n_rest_;
  for (; n >= 8; p += 8, n -= 8)
    h = std::rotl(h ^ round_of(0, read_word<std::uint64_t>(p)), 27) * kPrime1 + kPrime4;
  if (n >= 4) {
    h = std::rotl(h ^ read_word<std::uint32_t>(p) * kPrime1, 23) * kPrime2 + kPrime3;
    p += 4;
    n -= 4;
  }
  for (; n > 0; ++p, --n) h = std::rotl(h ^ *p * kPrime5, 11) * kPrime1;
  h = (h ^ (h >> 33)) * kPrime2;
  h = (h ^ (h >> 29)) * kPrime3;
  return h ^ (h >> 32);
}

std::uint64_t hash64(std::string_view bytes) {
  Hash64 hash;
  hash.add(bytes);
  return hash.digest();
}

std::string short_hash(std::string_view bytes) {
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", static_cast<unsigned>(hash64(bytes) >> 32));
  return digits;
}

}  // namespace headroom
