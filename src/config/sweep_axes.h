// The axes of a sweep: which fields vary, and over which values. Private to sweep*.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/fields.h"
#include "core/json.h"

namespace headroom {

inline constexpr std::size_t kMaxSweepPoints = 10'000;

// One field with its values, in order.
struct SweepColumn {
  std::string key;  // dotted path of the config
  Fields::Kind kind;
  std::size_t line = 0;
  std::vector<json::Value> values;
  std::vector<std::string> canonical;  // equal texts are equal values: 1, 1.0 and 1e0
};

// Fields that change together, at least one.
struct SweepAxis {
  std::vector<SweepColumn> columns;  // all with `size` values
  std::size_t size = 0;
};

// Throws Error(kUsage) "FILE:LINE: PATH: message", `at` being what is wrong in the sweep file.
[[noreturn]] void sweep_error(const json::Value& at, const std::string& path,
                              const std::string& message);

// The entries of "axes": a list, each { KEY: VALUES } or { "zip": { KEY: VALUES, ... } }, VALUES a
// list or a range { "from", "to", "count", "scale" }. No key twice. Throws Error(kUsage)
// "FILE:LINE: axes[1]: ...", or as the config's own reader does for an unknown key or a wrong
// value.
std::vector<SweepAxis> read_axes(const json::Value& list);

// The value as config.json would hold it in this field. Throws Error(kUsage) as the config's reader
// does.
std::string canonical_value(const std::string& key, const json::Value& value);

// What follows `--set KEY=` so that the reader gets this very value.
std::string set_text(const json::Value& value);

}  // namespace headroom
