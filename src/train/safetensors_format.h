// What the writer and the reader of safetensors files must agree on.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace headroom::safetensors {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

inline constexpr std::size_t kLengthBytes = 8;
inline constexpr std::size_t kAlignment = 64;
inline constexpr std::size_t kMaxDimensions = 8;
inline constexpr std::string_view kMetadataKey = "__metadata__";
inline constexpr std::string_view kDataSum = "checksum.data", kHeaderSum = "checksum.header";
inline constexpr std::string_view kNoSum = "0000000000000000";

inline std::string sum_text(std::uint64_t sum) {
  std::string text(kNoSum);
  for (std::size_t i = text.size(); i-- > 0; sum >>= 4) text[i] = "0123456789abcdef"[sum & 15];
  return text;
}

// Where in `head` (length and header) the 16 digits of the header's checksum stand, or npos.
inline std::size_t find_header_sum(std::string_view head, std::string_view digits) {
  const std::size_t key = head.find("\"" + std::string(kHeaderSum) + "\"");
  if (key == std::string_view::npos) return key;
  const std::size_t value =
      head.find("\"" + std::string(digits) + "\"", key + kHeaderSum.size() + 2);
  return value == std::string_view::npos ? value : value + 1;
}

}  // namespace headroom::safetensors
