// Numbers as text, the same under every locale, and exactly or not at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headroom {

// The least that a config may ask to be added to a divisor: much less is 0 in float, and 0 / 0 no
// number.
inline constexpr double kLeastEps = 1e-30;

// The shortest text that reads back to the same double, always with a point or an e: 1 -> "1.0",
// 1e-5 -> "1e-05", and "nan", "inf", "-inf".
std::string real_text(double value);

// The same as a person writes it, without a point where it is whole: "0.1", "3", "1e-05".
std::string short_real(double value);

enum class WholeStatus { kOk, kNotWhole, kOutOfRange };
struct WholeRead {
  WholeStatus status = WholeStatus::kOk;
  std::uint64_t value = 0;
};
// A JSON number as a whole number 0 .. 2^64-1, by exact decimal arithmetic: "1e3" and "10.0" are
// whole, "1.5" is not, "-1" and "18446744073709551616" are out of range.
WholeRead read_whole(std::string_view text);

enum class RealStatus { kOk, kNotNumber, kOutOfRange };
struct RealRead {
  RealStatus status = RealStatus::kOk;
  double value = 0;
};
// A JSON number as the nearest double. "1e400" and "1e-400" are out of range: neither becomes inf
// or 0.
RealRead read_real(std::string_view text);

}  // namespace headroom
