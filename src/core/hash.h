// XXH64 (Yann Collet; specification github.com/Cyan4973/xxHash, doc/xxhash_spec.md): a fast 64-bit
// checksum against damage, not against malice. Written out here because a hundred lines cost users
// less than one more package.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace headroom {

// Of a text in any number of pieces: the same digest however it is cut. Seed 0.
class Hash64 {
 public:
  void add(std::string_view bytes);
  std::uint64_t digest() const;

 private:
  std::array<std::uint64_t, 4> lanes_{0x60EA27EEADC0B5D6u, 0xC2B2AE3D27D4EB4Fu, 0,
                                      0x61C8864E7A143579u};
  std::array<unsigned char, 32> rest_{};  // bytes that do not fill a stripe yet
  std::size_t n_rest_ = 0;
  std::uint64_t total_ = 0;
};

std::uint64_t hash64(std::string_view bytes);
// 8 hex digits: its upper half. Enough to tell configs apart in names.
std::string short_hash(std::string_view bytes);

}  // namespace headroom
