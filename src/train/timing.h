// How long a training step takes here.
#pragma once

#include <cstdint>
#include <memory>

#include "model/model_config.h"
#include "tasks/task_config.h"
#include "train/train_config.h"

namespace headroom {

struct StepTiming {
  std::uint64_t steps = 0;  // timed, after one to warm up
  double median_s = 0, min_s = 0, max_s = 0;
  double tokens = 0, memory_bytes = 0;  // as TrainingStep's
};

// One training job without files, to be timed: the model, its updater and memory for a batch at the
// task's final stage, the dearest of a curriculum.
class TrainingStep {
 public:
  TrainingStep(const TaskConfig& task, const ModelConfig& model, const TrainConfig& config);
  ~TrainingStep();
  // Update t = 1, 2, ...: batch, gradient, optimizer, at a rate at which nothing diverges.
  void run(std::uint64_t t);
  double tokens() const;        // of one step, query tokens included
  double memory_bytes() const;  // parameters, gradients, moments, activations and the batch

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Real updates of the config at its final stage (the dearest of a curriculum) for about `seconds`,
// at least one and at most 1000.
StepTiming time_steps(const TaskConfig& task, const ModelConfig& model, const TrainConfig& config,
                      double seconds);

}  // namespace headroom
