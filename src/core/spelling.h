// "Did you mean": the nearest known name, and how foreign text is shown in a message.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

// Edits between two words: insert, delete, replace, swap of neighbours; case counts for nothing.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate with the smallest edit distance (the earlier of equals) that is within a third of
// the longer length (at least 2) and shorter than the word; failing that, one that holds the word
// or is held by it whole (3 letters or more); "" where there is none.
std::string nearest_name(std::string_view word, std::span<const std::string> candidates);

// "; did you mean 'NEAREST'?", or "" where nothing is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

// "a, b, c".
std::string join(std::span<const std::string> words, std::string_view separator = ", ");

// "(2, 3)".
std::string shape_text(std::span<const std::size_t> shape);

// The parts of the text between the separators, empty ones too; at least one. They point into it.
std::vector<std::string_view> split(std::string_view text, char separator);

// Somebody's text in double quotes, fit for one line of a message: escapes for control characters
// and what is no UTF-8, cut after about 60 characters.
std::string in_quotes(std::string_view text);

// The text as one word of a POSIX shell: as it stands, or in single quotes.
std::string shell_word(std::string_view text);

// The length of the UTF-8 character at the front of the text, 1 to 4; 0 where it is malformed
// (overlong, a surrogate, beyond U+10FFFF, cut off). `code_point` receives the character.
std::size_t utf8_length(std::string_view text, char32_t& code_point);
bool is_utf8(std::string_view text);

// Whether it holds what breaks a line or commands a terminal: a byte below 0x20, or 0x7F.
bool has_control_character(std::string_view text);

}  // namespace headroom
