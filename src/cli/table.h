// Plain text tables for a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

// Rows of cells; the first row is the head. The first column is flush left, the others flush right.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

// The words, broken into lines of at most 100 columns that begin with `indent` spaces; the first
// line starts at column `at`.
std::string wrapped(const std::vector<std::string>& words, std::size_t at, std::size_t indent);
std::vector<std::string> words_of(const std::string& sentence);

std::string fixed(double value, int digits);       // "0.0712"
std::string grouped(std::uint64_t value);          // "9,534,977"
std::string scientific(double value, int digits);  // "4.1e-15"
std::string short_number(double value);            // "1.53e+11" beyond a million, else plain

}  // namespace headroom
