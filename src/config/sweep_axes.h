// The axes of a sweep: which fields vary, and over which values. Private to sweep*.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "core/fields.h"
#include "core/json.h"

namespace headroom {

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
// value; neither an axis has more than kMaxSweepPoints values nor all together more than
// max_points.
std::vector<SweepAxis> read_axes(const json::Value& list, std::size_t max_points);

// Values of one field as config.json would hold them; made once for many, as a value takes a
// hundredth of the time that it takes to declare the fields.
class CanonicalValues {
 public:
  explicit CanonicalValues(std::string key);  // a path of the config
  CanonicalValues(const CanonicalValues&) = delete;
  CanonicalValues& operator=(const CanonicalValues&) = delete;
  // Throws Error(kUsage) as the config's reader does.
  std::string operator()(const json::Value& value);

 private:
  std::string key_;
  RunConfig config_;
  Fields fields_;
};

// What follows `--set KEY=` so that the reader gets this very value.
std::string set_text(const json::Value& value);

}  // namespace headroom
