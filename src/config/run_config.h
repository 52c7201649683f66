// The whole config: every section, its seeds, and what depends on more than one of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.h"
#include "model/model_config.h"
#include "tasks/task_config.h"
#include "train/train_config.h"

namespace headroom {

struct SeedsConfig {
  std::optional<std::uint64_t> init, data;
  void declare(Fields& f);
};

struct RunConfig {
  std::string name = "run";
  std::uint64_t seed = 0;
  SeedsConfig seeds;
  TaskConfig task;
  ModelConfig model;
  TrainConfig train;
  EvalConfig eval;
  RunOptions run;
  void declare(Fields& f);

  std::uint64_t init_seed() const { return seeds.init.value_or(seed); }
  std::uint64_t data_seed() const { return seeds.data.value_or(seed); }
};

// What depends on more than one field, within a section or across them. Throws Error(kUsage) for an
// impossible combination; the message names the keys by their paths, with their values. Nothing is
// changed.
void validate(const RunConfig& config);

// What is allowed but probably not meant, one line each.
std::vector<std::string> warnings(const RunConfig& config);

// Whether a name is one safe component of a path: letters (of any script), digits, . _ -, at most
// 200 bytes, not "." or "..".
bool is_safe_name(std::string_view name);

}  // namespace headroom
