#include "cli/table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace headroom {

std::string text_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - row[i].size(), ' ');
      out += i == 0 ? row[i] + (row.size() > 1 ? pad : "") : "  " + pad + row[i];
    }
    out += '\n';
  }
  return out;
}

std::string wrapped(const std::vector<std::string>& words, std::size_t at, std::size_t indent) {
  constexpr std::size_t kColumns = 100;
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0 && at + 1 + words[i].size() > kColumns) {
      out += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (i > 0) {
      out += ' ';
      ++at;
    }
    out += words[i];
    at += words[i].size();
  }
  return out;
}

std::vector<std::string> words_of(const std::string& sentence) {
  std::vector<std::string> words(1);
  for (char c : sentence) {
    if (c != ' ') {
      words.back() += c;
    } else {
      words.emplace_back();
    }
  }
  return words;
}

namespace {

std::string formatted(double value, std::chars_format format, int digits) {
  if (std::isnan(value)) return "nan";
  std::array<char, 400> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format, digits);
  return {text.data(), end.ptr};
}

}  // namespace

std::string fixed(double value, int digits) {
  return formatted(value, std::chars_format::fixed, digits);
}

std::string scientific(double value, int digits) {
  return formatted(value, std::chars_format::scientific, digits);
}

std::string grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string short_number(double value) {
  if (std::abs(value) < 1e6) return fixed(value, std::floor(value) == value ? 0 : 1);
  return scientific(value, 2);
}

}  // namespace headroom
