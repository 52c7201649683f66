#include "core/json_syntax.h"

#include <algorithm>

#include "core/spelling.h"

namespace headroom::json {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '+' || c == '-';
}

// What stands where the parser stopped: a text without its quotes, a word, or one character.
struct Found {
  std::size_t start;
  std::string_view text;
};

// `last` is the last character read. `token` is what the parser read since the last text or number
// began.
Found found_at(std::string_view document, std::size_t last, const std::string& token) {
  if (document[last] == '"' && token.size() >= 2 && token.size() <= last + 1) {
    const std::size_t start = last + 1 - token.size();
    if (document[start] == '"') return {start, document.substr(start + 1, token.size() - 2)};
  }
  std::size_t start = last, end = last;
  while (start > 0 && is_word_character(document[last]) && is_word_character(document[start - 1]))
    --start;
  while (end < document.size() && is_word_character(document[end])) ++end;
  if (end > start) return {start, document.substr(start, end - start)};
  char32_t ignored = 0;
  return {start, document.substr(start, std::max<std::size_t>(
                                            1, utf8_length(document.substr(start), ignored)))};
}

std::string word_message(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  const std::string_view unsigned_word = lower.front() == '-' || lower.front() == '+'
                                             ? std::string_view(lower).substr(1)
                                             : std::string_view(lower);
  if (unsigned_word == "nan" || unsigned_word == "inf" || unsigned_word == "infinity") {
    return in_quotes(word) + " is not JSON; numbers are finite";
  }
  if (lower == "true" || lower == "false") return in_quotes(word) + " is not JSON; write " + lower;
  if (lower == "none") return in_quotes(word) + " is not JSON; write null";
  return "";
}

std::string in_text_message(std::string_view what, char last) {
  if (last == '\n' || last == '\r') return "a text is not closed before the end of its line";
  if (static_cast<unsigned char>(last) < 0x20 && last >= 0) {
    return "a control character in a text; write it as \\uXXXX";
  }
  if (has(what, "UTF-8")) return "not valid UTF-8";
  return "an invalid escape in a text; a backslash itself is written \\\\";
}

std::string end_message(std::string_view what, const Context& context) {
  if (has(what, "comment")) return "the file ends within a comment";
  if (has(what, "closing quote")) return "the file ends within a text";
  if (context.bracket != 0) {
    return std::string("the file ends before the '") + context.bracket + "' of line " +
           std::to_string(context.bracket_line) + " is closed";
  }
  return "no value; a config is an object { ... }";
}

}  // namespace

Place locate(std::string_view document, std::size_t offset) {
  Place place;
  for (char c : document.substr(0, offset)) {
    if (c == '\n') {
      ++place.line;
      place.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0u) != 0x80u) {
      ++place.column;
    }
  }
  return place;
}

Syntax explain(std::string_view document, std::size_t n_read, const std::string& token,
               std::string_view what, const Context& context) {
  const auto at = [&](std::size_t offset, std::string message) {
    const Place place = locate(document, offset);
    return Syntax{place.line, place.column, std::move(message)};
  };
  if (n_read > document.size() || has(what, "unexpected end of input")) {
    return at(document.size(), end_message(what, context));
  }
  const std::size_t last = n_read == 0 ? 0 : n_read - 1;
  if (has(what, "invalid string")) return at(last, in_text_message(what, document[last]));
  if (has(what, "UTF-8") || has(what, "BOM")) return at(last, "not valid UTF-8");

  const Found found = found_at(document, last, token);
  const std::size_t start = found.start;
  const char first = document[start];
  const std::string shown = in_quotes(found.text);

  if (has(what, "number overflow")) return at(start, shown + " is beyond the largest real number");
  if (has(what, "comment")) return at(start, "'/' begins a comment only as // or /* */");
  if (context.finished) return at(start, shown + " after the end of the config");
  if (first == '\'') return at(start, "single quotes; JSON texts and keys take double quotes");
  // The parser itself accepts a bracket closed at once, so here a comma came before.
  const bool trailing_object = first == '}' && has(what, "object key");
  const bool trailing_array = first == ']' && context.bracket == '[' && has(what, "parsing value");
  if (trailing_object || trailing_array) {
    return at(start, std::string("a comma before '") + first + "'; the last entry takes none");
  }
  if (has(what, "object key")) return at(start, shown + " where a key in double quotes is due");
  if (const std::string message = word_message(found.text); !message.empty())
    return at(start, message);
  if (has(what, "object separator")) return at(start, shown + " where the ':' after a key is due");
  if (has(what, "parsing object")) return at(start, shown + " where ',' or '}' is due");
  if (has(what, "parsing array")) return at(start, shown + " where ',' or ']' is due");
  return at(start, shown + " where a value is due");
}

}  // namespace headroom::json
