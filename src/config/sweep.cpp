#include "config/sweep.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "config/read.h"
#include "config/sweep_axes.h"
#include "config/sweep_name.h"
#include "config/write.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/spelling.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

constexpr SweepKey kSweepKeys[] = {
    {"base", "a path, or an object",
     "The config that every point changes: a file, relative to this one, or a config itself, which "
     "grid writes to OUT. Must be given."},
    {"axes", "a list",
     "What varies, the last fastest. Each is { KEY: VALUES } or { \"zip\": { KEY: VALUES, ... } }, "
     "whose fields change together. KEY is a dotted path of the config; VALUES is a list, or a "
     "range { \"from\": 1e-4, \"to\": 1e-2, \"count\": 5, \"scale\": \"log\" } (scale: linear or "
     "log; a range of whole numbers without count takes each). Must be given."},
    {"skip", "a list",
     "Points to leave out: those for which all of one entry { KEY: VALUE, ... } holds; VALUE is a "
     "value of that axis, or a list of some."},
    {"name", "a text",
     "The name of a point, {KEY} standing for the value of any field: \"r{model.attention.key_size}"
     "-seed-{seed}\". Default: every axis by its last word and value."},
    {"out", "a path",
     "The folder of the run directories NAME-HASH, relative to where the commands run. Default: "
     "runs/ and the sweep file's name."},
    {"invalid", "\"error\" or \"skip\"",
     "What an impossible point is: an error, the default, or left out."},
};

// One entry of "skip": for each key the values (canonical) that it leaves out.
struct Skip {
  std::vector<std::pair<std::string, std::vector<std::string>>> conditions;
  bool used = false;
};

const SweepColumn* find_column(const std::vector<SweepAxis>& axes, const std::string& key) {
  for (const SweepAxis& axis : axes)
    for (const SweepColumn& column : axis.columns)
      if (column.key == key) return &column;
  return nullptr;
}

std::vector<Skip> read_skips(const json::Value& list, const std::vector<SweepAxis>& axes) {
  if (list.is_null()) return {};
  if (list.array() == nullptr) sweep_error(list, "skip", "expected a list of objects");
  std::vector<std::string> keys;
  for (const SweepAxis& axis : axes)
    for (const SweepColumn& column : axis.columns) keys.push_back(column.key);
  std::vector<Skip> skips;
  std::size_t n_values = 0;
  for (const json::Value& entry : *list.array()) {
    const std::string path = "skip[" + std::to_string(skips.size()) + "]";
    const json::Object* object = entry.object();
    if (object == nullptr || object->empty())
      sweep_error(entry, path, "expected { KEY: VALUE, ... }");
    Skip skip;
    for (const auto& [key, value] : *object) {
      const SweepColumn* column = find_column(axes, key);
      if (column == nullptr) {
        sweep_error(value, path,
                    in_quotes(key) + " is no axis of this sweep" + did_you_mean(key, keys) +
                        " (axes: " + join(keys) + ")");
      }
      const bool takes_lists =
          column->kind == Fields::Kind::kReals || column->kind == Fields::Kind::kTexts;
      std::vector<std::string> values;
      CanonicalValues canonical(key);
      if (const json::Array* some = value.array(); some != nullptr && !takes_lists) {
        for (const json::Value& one : *some) values.push_back(canonical(one));
      } else {
        values.push_back(canonical(value));
      }
      n_values += values.size();
      if (n_values > kMaxSweepPoints)
        sweep_error(list, "skip", "more than " + std::to_string(kMaxSweepPoints) + " values");
      skip.conditions.emplace_back(key, values);
    }
    skips.push_back(std::move(skip));
  }
  return skips;
}

// The inline base as a file in `out`: the paths it extends lead from there.
std::string base_file_text(json::Value base, const fs::path& folder, const fs::path& out) {
  const auto moved = [&](json::Value& value) {
    if (auto* path = std::get_if<std::string>(&value.data))
      // Absolute both: what does not exist yet has no place that a relative one could lead from.
      *path = fs::proximate(fs::absolute(folder / *path), fs::absolute(out)).generic_string();
  };
  for (auto& [key, value] : *base.object()) {
    if (key != "extends") continue;
    moved(value);
    if (auto* list = std::get_if<json::Array>(&value.data))
      for (json::Value& entry : *list) moved(entry);
  }
  return json::write(base) + "\n";
}

class Expansion {
 public:
  Expansion(const json::Value& document, const std::string& source)
      : document_(document), source_(source), folder_(fs::path(source).parent_path()) {}

  Sweep run(std::size_t max_points) {
    check_keys();
    read_out();
    read_base();
    axes_ = read_axes(member("axes"), max_points);
    name_ = document_.find("name") == nullptr ? default_name(axes_, document_)
                                              : parse_name(*document_.find("name"));
    skips_ = read_skips(optional_member("skip"), axes_);
    skip_invalid_ = read_invalid();
    std::size_t n = 1;
    for (const SweepAxis& axis : axes_) n *= axis.size;
    for (std::size_t i = 0; i < n; ++i) add_point(i);
    finish(n);
    return std::move(sweep_);
  }

 private:
  void check_keys() const {
    if (document_.object() == nullptr) {
      throw Error(Exit::kUsage, document_.origin.text() + ": expected an object { ... }");
    }
    std::vector<std::string> known;
    for (const SweepKey& key : kSweepKeys) known.push_back(key.name);
    for (const auto& [key, value] : *document_.object()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      sweep_error(value, is_safe_name(key) ? key : in_quotes(key),
                  "unknown key" + did_you_mean(key, known) + " (a sweep has " + join(known) +
                      "; fields of the config go in axes, or in base)");
    }
  }

  const json::Value& member(const char* key) const {
    const json::Value* value = document_.find(key);
    if (value == nullptr) sweep_error(document_, key, "a sweep needs it");
    return *value;
  }
  json::Value optional_member(const char* key) const {
    const json::Value* value = document_.find(key);
    return value == nullptr ? json::Value() : *value;
  }

  // A path that can stand in a line of output and is no flag.
  std::string checked_path(const json::Value& value, const std::string& key,
                           const std::string& path) const {
    if (has_control_character(path))
      sweep_error(value, key, in_quotes(path) + " has a control character");
    return path.starts_with('-') ? "./" + path : path;
  }

  void read_out() {
    const json::Value value = optional_member("out");
    if (value.is_null()) {
      sweep_.out = fs::path("runs") / name_text(json::text(fs::path(source_).stem().string()));
      return;
    }
    const auto* path = std::get_if<std::string>(&value.data);
    if (path == nullptr || path->empty()) sweep_error(value, "out", "expected a path");
    sweep_.out = checked_path(value, "out", *path);
  }

  void read_base() {
    const json::Value& base = member("base");
    if (const auto* path = std::get_if<std::string>(&base.data);
        path != nullptr && !path->empty()) {
      sweep_.base = checked_path(base, "base", (folder_ / *path).string());
    } else if (base.object() != nullptr) {
      sweep_.base_text = base_file_text(base, folder_, sweep_.out);
      sweep_.base = (sweep_.out / ("base-" + short_hash(sweep_.base_text) + ".json")).string();
    } else {
      sweep_error(base, "base", "expected the path of a config, or a config { ... }");
    }
  }

  bool read_invalid() const {
    const json::Value value = optional_member("invalid");
    if (value.is_null()) return false;
    const auto* name = std::get_if<std::string>(&value.data);
    if (name != nullptr && (*name == "error" || *name == "skip")) return *name == "skip";
    const std::vector<std::string> known{"error", "skip"};
    sweep_error(
        value, "invalid",
        "expected \"error\" or \"skip\"" + (name == nullptr ? "" : did_you_mean(*name, known)));
  }

  bool skipped(const std::map<std::string, std::string>& canonical) {
    bool any = false;
    for (Skip& skip : skips_) {
      const bool holds =
          std::all_of(skip.conditions.begin(), skip.conditions.end(), [&](const auto& condition) {
            const auto& [key, values] = condition;
            return std::find(values.begin(), values.end(), canonical.at(key)) != values.end();
          });
      skip.used = skip.used || holds;
      any = any || holds;
    }
    return any;
  }

  // The point as the command line will make it, so that nothing can differ.
  RunConfig read(const SweepPoint& point) const {
    if (sweep_.base_text.empty()) return read_run_config(sweep_.base, point.sets);
    return read_run_config_value(member("base"), point.sets, source_);
  }

  void add_point(std::size_t index) {
    SweepPoint point;
    std::map<std::string, std::string> canonical;
    std::vector<std::size_t> at(axes_.size());
    for (std::size_t a = axes_.size(); a-- > 0; index /= axes_[a].size)
      at[a] = index % axes_[a].size;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      for (const SweepColumn& column : axes_[a].columns) {
        const json::Value& value = column.values[at[a]];
        point.values.emplace_back(column.key, value);
        point.sets.push_back(column.key + "=" + set_text(value));
        canonical[column.key] = column.canonical[at[a]];
      }
    }
    if (skipped(canonical)) {
      ++sweep_.n_skipped;
      return;
    }
    RunConfig config;
    try {
      config = read(point);
    } catch (const Error& error) {
      if (error.code() != Exit::kUsage) throw;
      const std::string message = point_text(point) + ": " + error.what();
      if (!skip_invalid_) {
        throw Error(error.code(),
                    source_ + ": " + message + "; \"skip\" or \"invalid\": \"skip\" leaves it out");
      }
      if (sweep_.n_invalid++ == 0) first_invalid_ = message;
      return;
    }
    point.name = name_of(name_, point, config);
    point.hash = config_hash(config);
    point.out = sweep_.out / (point.name + "-" + point.hash);
    const auto [first, fresh] = by_folder_.emplace(point.out.string(), sweep_.points.size());
    if (!fresh) {
      throw Error(Exit::kUsage, source_ + ": " + point_text(sweep_.points[first->second]) +
                                    " and " + point_text(point) +
                                    " have the same config and name, so the same directory " +
                                    point.out.string());
    }
    sweep_.points.push_back(std::move(point));
  }

  void finish(std::size_t n) {
    if (sweep_.points.empty()) {
      const bool all_skipped = sweep_.n_skipped == n;
      throw Error(Exit::kUsage,
                  source_ + ": " +
                      (all_skipped ? "\"skip\" leaves out every point"
                                   : "no point is possible; the first, " + first_invalid_));
    }
    for (std::size_t i = 0; i < skips_.size(); ++i) {
      if (!skips_[i].used)
        sweep_.notes.push_back("skip[" + std::to_string(i) + "] leaves out no point");
    }
    if (sweep_.n_invalid > 0) {
      sweep_.notes.push_back(std::to_string(sweep_.n_invalid) +
                             " impossible points left out; the first, " + first_invalid_);
    }
  }

  const json::Value& document_;
  std::string source_;
  fs::path folder_;
  std::vector<SweepAxis> axes_;
  NameTemplate name_;
  std::vector<Skip> skips_;
  bool skip_invalid_ = false;
  std::string first_invalid_;
  std::map<std::string, std::size_t> by_folder_;
  Sweep sweep_;
};

}  // namespace

std::span<const SweepKey> sweep_keys() { return kSweepKeys; }

const char* const kSweepExample = R"({
  "base": "base.json",
  "axes": [
    { "zip": { "model.attention.heads": [16, 4, 1], "model.attention.key_size": [1, 4, 16] } },
    { "train.optimizer.lr": { "from": 1e-3, "to": 1e-1, "count": 3, "scale": "log" } },
    { "seed": { "from": 0, "to": 4 } }  // 0, 1, 2, 3, 4
  ],
  "skip": [ { "model.attention.heads": [16, 4], "train.optimizer.lr": 0.1 } ],
  "name": "rank-{model.attention.key_size}-lr-{train.optimizer.lr}-seed-{seed}",
  "out": "runs/ranks"
}
)";

Sweep read_sweep(const std::string& path) {
  return Expansion(json::parse_file(path), path).run(kMaxSweepPoints);
}

Sweep read_sweep_text(std::string_view text, const std::string& source, std::size_t max_points) {
  return Expansion(json::parse(text, source), source).run(max_points);
}

}  // namespace headroom
