// Where and why a text is no JSON, in our own words. Used by json.cpp alone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headroom::json {

struct Place {
  std::size_t line = 1, column = 1;  // both from 1; the column counts characters, not bytes
};
Place locate(std::string_view document, std::size_t offset);

// What the reader knows when the parser stops.
struct Context {
  char bracket = 0;              // the innermost open bracket, '{' or '[', or 0
  std::size_t bracket_line = 0;  // where it was opened
  bool finished = false;         // a whole value has been read
};

struct Syntax {
  std::size_t line, column;
  std::string message;
};
// `n_read` characters were read when the parser stopped at `token` for the reason `what`
// (nlohmann/json's words).
Syntax explain(std::string_view document, std::size_t n_read, const std::string& token,
               std::string_view what, const Context& context);

}  // namespace headroom::json
