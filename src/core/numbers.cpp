#include "core/numbers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace headroom {

std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string short_real(double value) {
  std::array<char, 32> buffer;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general)
          .ptr;
  return {buffer.data(), end};
}

WholeRead read_whole(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);

  // The value is 0.DIGITS * 10^point.
  std::string digits;
  long point = 0;
  const std::size_t exponent_at = text.find_first_of("eE");
  bool past_point = false;
  for (char c : text.substr(0, exponent_at)) {
    if (c == '.') {
      past_point = true;
      continue;
    }
    if (c < '0' || c > '9') return {WholeStatus::kNotWhole, 0};
    digits += c;
    if (!past_point) ++point;
  }
  if (digits.empty()) return {WholeStatus::kNotWhole, 0};
  if (exponent_at != std::string_view::npos) {
    std::string_view exponent = text.substr(exponent_at + 1);
    const bool below = !exponent.empty() && exponent.front() == '-';
    if (!exponent.empty() && (below || exponent.front() == '+')) exponent.remove_prefix(1);
    long shift = 0;
    constexpr long kFar = 1'000'000'000;  // beyond any text's digits; avoids overflow
    for (char c : exponent) {
      if (c < '0' || c > '9') return {WholeStatus::kNotWhole, 0};
      shift = std::min(kFar, shift * 10 + (c - '0'));
    }
    point += below ? -shift : shift;
  }

  const std::size_t first = digits.find_first_not_of('0');
  if (first == std::string::npos) return {WholeStatus::kOk, 0};
  digits.erase(digits.find_last_not_of('0') + 1);
  digits.erase(0, first);
  point -= static_cast<long>(first);

  if (point < static_cast<long>(digits.size())) return {WholeStatus::kNotWhole, 0};
  if (negative || point > 20) return {WholeStatus::kOutOfRange, 0};
  digits.append(static_cast<std::size_t>(point) - digits.size(), '0');
  std::uint64_t value = 0;
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  for (char c : digits) {
    const std::uint64_t digit = static_cast<std::uint64_t>(c - '0');
    if (value > (kMax - digit) / 10) return {WholeStatus::kOutOfRange, 0};
    value = value * 10 + digit;
  }
  return {WholeStatus::kOk, value};
}

RealRead read_real(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) return {RealStatus::kOutOfRange, 0};
  if (error != std::errc{} || stop != end || !std::isfinite(value)) {
    return {RealStatus::kNotNumber, 0};
  }
  return {RealStatus::kOk, value};
}

}  // namespace headroom
