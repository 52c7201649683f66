// What the commands that look at a finished run share: its config and its checkpoints.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "config/run_config.h"
#include "core/error.h"
#include "train/checkpoint.h"

namespace headroom {

// The config of a run directory under `--set` items. Error(kFile) where there is no such directory.
RunConfig read_run(const std::filesystem::path& run, std::span<const std::string> sets = {});

// `which` is "last", "best" or a path. Throws as safetensors::Archive does, and Error(kCorrupt)
// where the checkpoint is of another model or task than `config`.
safetensors::Archive open_checkpoint(const std::filesystem::path& run, const std::string& which,
                                     const RunConfig& config);

}  // namespace headroom
