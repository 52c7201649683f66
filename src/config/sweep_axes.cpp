#include "config/sweep_axes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "config/sweep.h"
#include "core/error.h"
#include "core/numbers.h"
#include "core/spelling.h"

namespace headroom {
namespace {

using Kind = Fields::Kind;

// Powers and sums end in digits that are noise, and differ between C libraries: 12 digits name the
// same run everywhere.
double rounded(double value) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::scientific, 11)
                       .ptr;
  return read_real({buffer.data(), static_cast<std::size_t>(end - buffer.data())}).value;
}

[[noreturn]] void too_many_values(const json::Value& at, const std::string& path) {
  sweep_error(at, path, "more than " + std::to_string(kMaxSweepPoints) + " values");
}

// { "from": 1e-4, "to": 1e-2, "count": 5, "scale": "log" }
class Range {
 public:
  Range(const json::Value& range, const std::string& path) : range_(range), path_(path) {
    const std::vector<std::string> known{"from", "to", "count", "scale"};
    for (const auto& [key, value] : *range.object()) {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        sweep_error(
            value, path_ + "." + (is_safe_name(key) ? key : in_quotes(key)),
            "unknown key" + did_you_mean(key, known) + " (a range has " + join(known) + ")");
      }
    }
    for (const char* key : {"from", "to"}) {
      const json::Value* end = range.find(key);
      if (end == nullptr) sweep_error(range, path_, std::string("a range needs \"") + key + "\"");
      if (number(*end) == nullptr) sweep_error(*end, path_ + "." + key, "expected a number");
    }
    if (const json::Value* value = range.find("count")) count_ = read_count(*value);
    if (const json::Value* value = range.find("scale")) log_ = read_scale(*value);
    if (log_ && !count_) sweep_error(range, path_, "\"scale\": \"log\" needs \"count\"");
  }

  std::vector<json::Value> whole() const {
    const std::uint64_t from = whole_end("from"), to = whole_end("to");
    if (from == to) equal_ends();
    const std::uint64_t span = from < to ? to - from : from - to;
    if (log_) return whole_log(from, to);
    const std::uint64_t steps = count_ ? *count_ - 1 : span;
    if (steps >= kMaxSweepPoints) too_many_values(range_, path_);
    if (span % steps != 0) {
      sweep_error(range_, path_,
                  "a count of " + std::to_string(*count_) + " from " + std::to_string(from) +
                      " to " + std::to_string(to) +
                      " gives numbers that are not whole, which this field needs");
    }
    std::vector<json::Value> values;
    for (std::uint64_t i = 0; i <= steps; ++i) {
      const std::uint64_t way = i * (span / steps);
      values.push_back(json::number(from < to ? from + way : from - way));
    }
    return values;
  }

  std::vector<json::Value> real() const {
    if (!count_) sweep_error(range_, path_, "a range of real numbers needs \"count\"");
    const double from = real_end("from"), to = real_end("to");
    if (from == to) equal_ends();
    std::vector<json::Value> values{json::number(from)};
    for (std::uint64_t i = 1; i + 1 < *count_; ++i)
      values.push_back(json::number(rounded(between(from, to, i))));
    values.push_back(json::number(to));
    return values;
  }

 private:
  static const json::Number* number(const json::Value& value) {
    return std::get_if<json::Number>(&value.data);
  }

  std::uint64_t read_count(const json::Value& value) const {
    const json::Number* n = number(value);
    const WholeRead read =
        n == nullptr ? WholeRead{WholeStatus::kNotWhole, 0} : read_whole(n->text);
    if (read.status != WholeStatus::kOk || read.value < 2 || read.value > kMaxSweepPoints) {
      sweep_error(value, path_ + ".count",
                  "expected a whole number from 2 to " + std::to_string(kMaxSweepPoints));
    }
    return read.value;
  }

  bool read_scale(const json::Value& value) const {
    const auto* name = std::get_if<std::string>(&value.data);
    if (name != nullptr && *name == "log") return true;
    if (name != nullptr && *name == "linear") return false;
    const std::vector<std::string> known{"linear", "log"};
    sweep_error(
        value, path_ + ".scale",
        "expected \"linear\" or \"log\"" + (name == nullptr ? "" : did_you_mean(*name, known)));
  }

  [[noreturn]] void equal_ends() const {
    sweep_error(range_, path_, "\"from\" and \"to\" are equal");
  }

  std::uint64_t whole_end(const std::string& key) const {
    const json::Value& value = *range_.find(key);
    const std::string& text = number(value)->text;
    const WholeRead read = read_whole(text);
    if (read.status != WholeStatus::kOk) {
      sweep_error(value, path_ + "." + key,
                  "expected a whole number from 0 to 2^64-1, found " + text.substr(0, 40));
    }
    return read.value;
  }

  double real_end(const std::string& key) const {
    const json::Value& value = *range_.find(key);
    const RealRead read = read_real(number(value)->text);
    if (read.status != RealStatus::kOk) sweep_error(value, path_ + "." + key, "out of range");
    if (log_ && read.value <= 0)
      sweep_error(value, path_ + "." + key, "a log scale needs it above 0");
    return read.value;
  }

  // Value i of `count_`, neither the first nor the last.
  double between(double from, double to, std::uint64_t i) const {
    const double share = static_cast<double>(i) / static_cast<double>(*count_ - 1);
    // As weights of both ends, so that neither to - from nor to / from overflows.
    if (log_) return std::exp((1 - share) * std::log(from) + share * std::log(to));
    return (1 - share) * from + share * to;
  }

  std::vector<json::Value> whole_log(std::uint64_t from, std::uint64_t to) const {
    if (from == 0 || to == 0) sweep_error(range_, path_, "a log scale needs both ends above 0");
    std::vector<json::Value> values{json::number(from)};
    for (std::uint64_t i = 1; i + 1 < *count_; ++i) {
      const double exact = between(static_cast<double>(from), static_cast<double>(to), i);
      const double nearest = std::round(exact);
      constexpr double kNoise = 1e-9, kLargest = 9e15;  // beyond, every double is whole
      if (std::abs(exact - nearest) > kNoise * exact || nearest > kLargest) {
        sweep_error(range_, path_,
                    "a count of " + std::to_string(*count_) + " on a log scale gives " +
                        real_text(rounded(exact)) + ", which is not whole, as this field needs it");
      }
      values.push_back(json::number(static_cast<std::uint64_t>(nearest)));
    }
    values.push_back(json::number(to));
    return values;
  }

  const json::Value& range_;
  std::string path_;
  std::optional<std::uint64_t> count_;
  bool log_ = false;
};

std::vector<json::Value> read_range(const json::Value& value, const Fields::Field& field,
                                    const std::string& path) {
  const Range range(value, path);
  std::vector<json::Value> values;
  switch (field.kind) {
    case Kind::kInteger:
    case Kind::kIntegerOrSection:
      values = range.whole();
      break;
    case Kind::kReal:
    case Kind::kChoiceOrReal:
      values = range.real();
      break;
    default:
      sweep_error(value, path,
                  "a range is for numbers, this field takes " + value_text(field) +
                      "; write a list of values");
  }
  for (json::Value& entry : values) entry.origin = value.origin;
  return values;
}

SweepColumn read_column(const std::string& key, const json::Value& value) {
  RunConfig config;
  Fields fields;
  config.declare(fields);
  const std::string where = value.origin.text();  // g++ 14 takes a temporary for the field's
  const Fields::Field& field = field_at(fields, key, where);
  SweepColumn column{key, field.kind, value.origin.line, {}, {}};
  if (value.object() != nullptr) {
    column.values = read_range(value, field, key);
  } else if (const json::Array* list = value.array()) {
    if (list->empty()) sweep_error(value, key, "the list of values is empty");
    if (list->size() > kMaxSweepPoints) too_many_values(value, key);
    column.values = *list;
  } else {
    sweep_error(value, key, "expected a list of values, or a range { \"from\": ..., \"to\": ... }");
  }
  CanonicalValues canonical(key);
  for (const json::Value& entry : column.values) column.canonical.push_back(canonical(entry));
  return column;
}

SweepAxis read_axis(const json::Value& entry, const std::string& path) {
  const json::Object* object = entry.object();
  const std::string form = "expected { KEY: VALUES } or { \"zip\": { KEY: VALUES, ... } }";
  if (object == nullptr || object->empty()) sweep_error(entry, path, form);
  if (object->size() > 1) {
    sweep_error(
        entry, path,
        "an axis has one key; fields that change together go in { \"zip\": { ... } }, others in "
        "axes of their own");
  }
  const auto& [name, value] = object->front();
  SweepAxis axis;
  if (name != "zip") {
    axis.columns.push_back(read_column(name, value));
  } else {
    const json::Object* zipped = value.object();
    if (zipped == nullptr || zipped->empty())
      sweep_error(value, path + ".zip", "expected { KEY: VALUES, ... }");
    for (const auto& [key, values] : *zipped) axis.columns.push_back(read_column(key, values));
  }
  const SweepColumn& first = axis.columns.front();
  axis.size = first.values.size();
  for (const SweepColumn& column : axis.columns) {
    if (column.values.size() == axis.size) continue;
    sweep_error(value, path + ".zip",
                first.key + " has " + std::to_string(axis.size) + " values and " + column.key +
                    " has " + std::to_string(column.values.size()) +
                    "; zipped fields need as many of each");
  }
  return axis;
}

}  // namespace

void sweep_error(const json::Value& at, const std::string& path, const std::string& message) {
  throw Error(Exit::kUsage, at.origin.text() + ": " + path + ": " + message);
}

CanonicalValues::CanonicalValues(std::string key) : key_(std::move(key)) {
  config_.declare(fields_);
}

std::string CanonicalValues::operator()(const json::Value& value) {
  read_fields(json::nested(key_, value), fields_, Applicability::kIgnored);
  return json::write(field_value(field_at(fields_, key_, value.origin.text())), 0);
}

std::string set_text(const json::Value& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  // A text that might be read as something else goes in quotes.
  const bool plain = text != nullptr && *text != "null" && is_safe_name(*text);
  return plain ? *text : json::write(value, 0);
}

std::vector<SweepAxis> read_axes(const json::Value& list, std::size_t max_points) {
  const json::Array* entries = list.array();
  if (entries == nullptr || entries->empty()) {
    sweep_error(list, "axes",
                "expected a list of at least one axis, as in [ { \"seed\": [0, 1] } ]");
  }
  std::vector<SweepAxis> axes;
  std::vector<std::pair<std::string, std::size_t>> seen;  // keys and their lines
  std::size_t n_points = 1;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const json::Value& entry = (*entries)[i];
    const std::string path = "axes[" + std::to_string(i) + "]";
    axes.push_back(read_axis(entry, path));
    for (const SweepColumn& column : axes.back().columns) {
      for (const auto& [key, line] : seen) {
        // "task" and "task.dim" would overwrite each other just as well.
        const bool inside = column.key.starts_with(key + ".") || key.starts_with(column.key + ".");
        if (key != column.key && !inside) continue;
        sweep_error(entry, path,
                    column.key +
                        (inside ? " and " + key + " set the same field" : " a second time") +
                        "; the first is at line " + std::to_string(line));
      }
      seen.emplace_back(column.key, column.line);
    }
    if (axes.back().size > max_points / n_points)
      sweep_error(list, "axes", "more than " + std::to_string(max_points) + " points");
    n_points *= axes.back().size;
  }
  return axes;
}

}  // namespace headroom
