// A sweep: one file that stands for many runs, a config of its own each.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.h"

namespace headroom {

// The keys of a sweep file; reading and `describe grid` both work from this table.
struct SweepKey {
  const char *name, *takes, *sentence;
};
std::span<const SweepKey> sweep_keys();

// A sweep file that shows them all.
extern const char* const kSweepExample;

inline constexpr std::size_t kMaxSweepPoints = 10'000;  // of a sweep, and values of an axis

struct SweepPoint {
  std::string name;
  std::vector<std::pair<std::string, json::Value>> values;  // dotted keys, in the axes' order
  std::vector<std::string> sets;                            // the same as --set takes them
  std::string hash;                                         // of its config (config_hash)
  std::filesystem::path out;                                // its run directory, OUT/NAME-HASH
};

struct Sweep {
  std::string base;       // the config that every point changes, as a path from here
  std::string base_text;  // what `base` is to hold, where the sweep holds it; else empty
  std::filesystem::path out;
  std::vector<SweepPoint> points;  // the last axis fastest; at least one
  std::size_t n_skipped = 0;       // left out by "skip"
  std::size_t n_invalid = 0;       // left out as "invalid" says
  std::vector<std::string> notes;  // what is allowed but probably not meant, one line each
};

// Reads a sweep file and the config of every point, through the config's own reader: what this
// accepts, `headroom train BASE --set ...` accepts. Writes nothing. Throws Error(kUsage), one line
// with file, line and key path, for a mistake in the file, an impossible point (named by its
// values), a name that is no safe path component, two points with one directory, more than 10000
// points or none; Error(kFile) for a file that cannot be read.
Sweep read_sweep(const std::string& path);

// The same from a text; `source` names it in messages, and its folder is where "base" and "extends"
// begin.
Sweep read_sweep_text(std::string_view text, const std::string& source,
                      std::size_t max_points = kMaxSweepPoints);

}  // namespace headroom
