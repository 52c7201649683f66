#include "cli/patterns.h"

#include <cstdlib>
#include <regex>

namespace headroom {

std::vector<std::vector<std::string>> matches(const std::string& text, const std::string& pattern) {
  const std::regex compiled(pattern);
  std::vector<std::vector<std::string>> all;
  for (std::sregex_iterator i(text.begin(), text.end(), compiled), end; i != end; ++i)
    all.emplace_back(i->begin(), i->end());
  return all;
}

double json_number(const std::string& text, const std::string& key) {
  const auto found = matches(text, '"' + key + "\": *(-?[0-9.e+-]+)");
  return found.empty() ? -1 : std::atof(found[0][1].c_str());
}

}  // namespace headroom
