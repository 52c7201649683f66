// `headroom bench`: where the time of a step goes, and how near it is to what its matrix products
// alone would take.
#pragma once

#include <cstdint>
#include <optional>

#include "core/phases.h"
#include "model/model_config.h"
#include "tasks/task_config.h"
#include "train/train_config.h"

namespace headroom {

struct BenchResult {
  std::uint64_t steps = 0;
  double median_s = 0, min_s = 0, max_s = 0;  // of a step
  PhaseSeconds phases{};                      // mean over the steps; they add up to the mean step
  double tokens = 0;                          // of a step
  // The matrix products of a step (maps and their gradients; attention has kernels of its own),
  // and the time they take back to back in the same tiles on operands that are ready.
  double matmul_flops = 0, matmul_median_s = 0;
  double peak_rss_bytes = 0, memory_bytes = 0;  // of the process; of what is planned for training
  std::optional<double> allocations;            // per step, at malloc
  double primitives = 0;                        // oneDNN's, made per step

  double roofline() const { return matmul_flops / matmul_median_s; }  // FLOP/s
};

// `steps` updates after `warmup` ones; steps and products take turns, so that both see the same
// machine. steps is at least 1.
BenchResult bench_steps(const TaskConfig& task, const ModelConfig& model, const TrainConfig& config,
                        std::uint64_t steps, std::uint64_t warmup = 3);

}  // namespace headroom
