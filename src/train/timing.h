// How long a training step takes here.
#pragma once

#include <cstdint>

#include "model/model_config.h"
#include "tasks/task_config.h"
#include "train/train_config.h"

namespace headroom {

struct StepTiming {
  std::uint64_t steps = 0;  // timed, after one to warm up
  double median_s = 0, min_s = 0, max_s = 0;
  double tokens = 0;        // of one step, query tokens included
  double memory_bytes = 0;  // parameters, gradients, moments, activations and the batch
};

// Real updates of the config at its final stage (the dearest of a curriculum) for about `seconds`,
// at least one and at most config.steps or 1000.
StepTiming time_steps(const TaskConfig& task, const ModelConfig& model, const TrainConfig& config,
                      double seconds);

}  // namespace headroom
