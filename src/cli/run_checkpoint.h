// What the commands that look at a finished run share: its config and its checkpoints.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "config/run_config.h"
#include "core/error.h"
#include "train/checkpoint.h"

namespace headroom {

// The config of a run directory under `--set` items. Error(kFile) where there is no such directory;
// a file gets Error(kUsage) with what to give to `command` instead.
RunConfig read_run(const char* command, const std::filesystem::path& run,
                   std::span<const std::string> sets = {});

// `which` is "last", "best" or a path. Throws as safetensors::Archive does, and Error(kCorrupt)
// where the checkpoint is of another model or task than `config`.
safetensors::Archive open_checkpoint(const std::filesystem::path& run, const std::string& which,
                                     const RunConfig& config);

// In which keys `config` is another model than the one that parameters in `file` were trained with,
// as one line that begins with the file; "" where it is the same, or the file does not tell. Throws
// as safetensors::Archive does.
std::string other_model(const std::filesystem::path& file, const RunConfig& config);

}  // namespace headroom
