// Where a run that was stopped or killed goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/params.h"
#include "train/checkpoint.h"
#include "train/checkpoint_folder.h"
#include "train/optimizer.h"
#include "train/train_job.h"

namespace headroom {

struct ResumePoint {
  std::optional<TrainState> state;     // none: there is no checkpoint yet
  std::vector<std::string> problems;   // why newer checkpoints cannot be used, one line each
  std::vector<std::uint64_t> damaged;  // their steps
  std::vector<std::uint64_t> interim;  // checkpoints of early stops, by step
};

// Fills parameters and moments from the newest checkpoint that is sound and fits; changes no file.
// Throws Error(kCorrupt) with the newest one's problem if there are checkpoints but none is good,
// Error(kFile) for one that cannot be read.
ResumePoint find_resume_point(const CheckpointFolder& folder, const TrainJob& job,
                              const ParamTable& table, std::span<float> params,
                              Optimizer<float>& optimizer);

// Puts the damaged ones out of the way, under names that end in .damaged.
void set_damaged_aside(const CheckpointFolder& folder, const ResumePoint& point);

}  // namespace headroom
