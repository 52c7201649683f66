#include "config/sweep_name.h"
#include "config/compare.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "config/write.h"
#include "core/error.h"
#include "core/spelling.h"

namespace headroom {

std::string point_text(const SweepPoint& point) { return "the point " + join(point.sets); }

std::string name_text(const json::Value& value) {
  const auto* given = std::get_if<std::string>(&value.data);
  const std::string whole = given != nullptr ? *given : json::write(value, 0);
  std::string out;
  for (std::string_view rest = whole; !rest.empty();) {
    char32_t unused = 0;
    const std::size_t n = std::max<std::size_t>(utf8_length(rest, unused), 1);
    const std::string_view character = rest.substr(0, n);
    out += character == "." || is_safe_name(character) ? character : "_";
    rest.remove_prefix(n);
  }
  return out;
}

NameTemplate parse_name(const json::Value& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  if (text == nullptr || text->empty())
    sweep_error(value, "name", "expected a text such as \"seed-{seed}\"");
  RunConfig config;
  Fields fields;
  config.declare(fields);
  NameTemplate name{{}, value};
  for (std::string_view rest = *text; !rest.empty();) {
    const std::size_t brace = rest.find_first_of("{}");
    if (brace != 0) {
      name.parts.push_back({std::string(rest.substr(0, brace))});
      rest.remove_prefix(std::min(brace, rest.size()));
      continue;
    }
    const std::size_t end = rest.find('}');
    if (rest.front() == '}' || end == std::string_view::npos) {
      sweep_error(value, "name", "a brace without its partner in " + in_quotes(*text));
    }
    const std::string key(rest.substr(1, end - 1));
    field_at(fields, key, value.origin.text() + ": name");
    name.parts.push_back({key, true});
    rest.remove_prefix(end + 1);
  }
  return name;
}

NameTemplate default_name(const std::vector<SweepAxis>& axes, const json::Value& origin) {
  std::vector<std::string> keys;
  for (const SweepAxis& axis : axes)
    for (const SweepColumn& column : axis.columns) keys.push_back(column.key);
  const auto last_word = [](const std::string& key) { return key.substr(key.rfind('.') + 1); };
  NameTemplate name{{}, origin};
  for (const std::string& key : keys) {
    const bool unique = std::count_if(keys.begin(), keys.end(), [&](const std::string& other) {
                          return last_word(other) == last_word(key);
                        }) == 1;
    name.parts.push_back({(name.parts.empty() ? "" : "-") + (unique ? last_word(key) : key) + "-"});
    name.parts.push_back({key, true});
  }
  return name;
}

std::string name_of(const NameTemplate& name, const SweepPoint& point, const RunConfig& config) {
  std::string out;
  std::optional<json::Value> resolved;
  for (const NameTemplate::Part& part : name.parts) {
    if (!part.is_key) {
      out += part.text;
      continue;
    }
    const auto given = std::find_if(point.values.begin(), point.values.end(),
                                    [&](const auto& value) { return value.first == part.text; });
    const json::Value* value = given == point.values.end() ? nullptr : &given->second;
    if (value == nullptr) {
      if (!resolved) resolved = resolved_value(config);
      value = value_at(*resolved, part.text);
    }
    if (value == nullptr)
      sweep_error(name.origin, "name", "{" + part.text + "} does not go with " + point_text(point));
    out += name_text(*value);
  }
  if (!is_safe_name(out)) {
    sweep_error(name.origin, "name",
                in_quotes(out) +
                    " cannot name a folder; take letters, digits, . _ and -, at most 200 "
                    "bytes");
  }
  return out;
}

}  // namespace headroom
