// Whether a run's checkpoints will fit on the disk, asked before its first update.
#pragma once

#include <cstdint>
#include <filesystem>

#include "train/train_config.h"

namespace headroom {

struct CheckpointNeeds {
  double file_bytes = 0;      // of one checkpoint
  std::uint64_t n_files = 0;  // at once, the one being written included
  double bytes() const { return file_bytes * static_cast<double>(n_files); }
};

// Of a run with `parameters` float32 parameters: the parameters and the optimizer's moments, and of
// files run.keep and the best, as far as the run is long enough to write so many.
CheckpointNeeds checkpoint_needs(std::uint64_t parameters, const TrainConfig& train,
                                 const EvalConfig& eval, const RunOptions& run);

// Throws Error(kFile) with the path, both sizes and run.keep, where the file system of `folder` (or
// of the nearest folder above it that exists) has less free than the run will need beyond what it
// has there already. A file system that does not say how much is free is not asked.
void require_disk_space(const std::filesystem::path& folder, const CheckpointNeeds& needs,
                        std::uint64_t keep);

}  // namespace headroom
