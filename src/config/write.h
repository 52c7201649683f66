// The resolved config as JSON, and what identifies it.
#pragma once

#include <filesystem>
#include <string>

#include "config/run_config.h"
#include "core/json.h"

namespace headroom {

// Every field that goes with the selected types, in the order of declaration; derived ones stay
// null.
json::Value config_value(const RunConfig& config);

// The same with every derived value filled in, as `check` shows it: sizes and heads of the model,
// seeds, the schedule's horizon, the evaluation's batch. The config must be valid.
json::Value resolved_value(const RunConfig& config);

// The text of config.json: read again it gives the same config and the same text.
std::string config_text(const RunConfig& config);

// 8 hex digits: the upper half of XXH64 (seed 0) of the one-line text of the config without its
// `run` section.
std::string config_hash(const RunConfig& config);

// "runs/NAME-HASH".
std::filesystem::path default_run_directory(const RunConfig& config);

}  // namespace headroom
