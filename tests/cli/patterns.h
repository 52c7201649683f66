// Regular expressions (ECMAScript) over what the binary prints. <regex> takes half a minute to
// compile under the sanitizers, so that only patterns.cpp includes it.
#pragma once

#include <string>
#include <vector>

namespace headroom {

// Of each place in `text` that the pattern matches, from the first to the last: what it matched,
// then its groups.
std::vector<std::vector<std::string>> matches(const std::string& text, const std::string& pattern);

inline bool has_match(const std::string& text, const std::string& pattern) {
  return !matches(text, pattern).empty();
}

// The first number behind "KEY": in a JSON text; -1 where there is none.
double json_number(const std::string& text, const std::string& key);

}  // namespace headroom
