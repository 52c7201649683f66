// The names of a sweep's points. Used by sweep.cpp alone.
#pragma once

#include <string>
#include <vector>

#include "config/run_config.h"
#include "config/sweep.h"
#include "config/sweep_axes.h"
#include "core/json.h"

namespace headroom {

// The name of a point, taken apart once: texts and keys in turn.
struct NameTemplate {
  struct Part {
    std::string text;
    bool is_key = false;
  };
  std::vector<Part> parts;
  json::Value origin;  // where it stands, for messages
};

// "{KEY}" stands for the value of a field. Throws Error(kUsage) for a value that is no text, a
// brace without its partner, and an unknown key with the nearest one.
NameTemplate parse_name(const json::Value& value);

// "heads-4-seed-0"; a last word that two axes share is given with its path.
NameTemplate default_name(const std::vector<SweepAxis>& axes, const json::Value& origin);

// The name of a point with this config: its own values as the sweep has them, other fields
// resolved. Throws Error(kUsage) where a field does not go with the point's types, and where the
// result cannot name a folder.
std::string name_of(const NameTemplate& name, const SweepPoint& point, const RunConfig& config);

// How messages call a point: "the point seed=0, model.layers=2".
std::string point_text(const SweepPoint& point);

// A value as a part of a name: what cannot stand in a folder's name becomes _.
std::string name_text(const json::Value& value);

}  // namespace headroom
