// `headroom step`: a few updates with everything they computed, for comparison with another
// program.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "model/model_config.h"
#include "tasks/task_config.h"
#include "train/train_config.h"

namespace headroom {

struct StepJob {
  TaskConfig task;
  ModelConfig model;  // as given
  TrainConfig train;
  std::uint64_t init_seed = 0, data_seed = 0;
  std::string config_text;
  std::uint64_t steps = 1;                    // to dump; at least 1
  std::optional<std::uint64_t> at;            // the update to begin the dump with
  std::optional<std::filesystem::path> load;  // a checkpoint, or a dump of this command
  bool float64 = false;
  std::filesystem::path dump;
};

struct StepResult {
  bool stopped = false;  // by a signal, and nothing is written
  std::uint64_t first_step = 1, steps = 0;
  double loss = 0, grad_norm = 0;  // of the last update
};

// Takes `steps` updates and writes job.dump. From scratch: the config's initial parameters and its
// batches 1, 2, ...; from a checkpoint: its parameters, moments and following batches; from a dump:
// its param.NAME and, if it has them, batch.input, batch.query and batch.target for every update,
// with fresh moments. With `at` the updates before that one are taken first, as training took them,
// and leave no trace: what a run did at any step can be had again, from its config or faster from
// a checkpoint before it.
//
// The dump (F32, or F64 with float64) holds param.NAME, the parameters before the first update; of
// the first update batch.input (B,T,d), batch.target (B,P,O), output (B,T,O), or with queries of
// their own batch.query (B,Q,d) and output (B,Q,O), loss () and grad.NAME (before clipping); of
// update k = 2, 3, ... the same behind "step.k."; and after the last update updated.NAME,
// optimizer.m.NAME and optimizer.v.NAME. In the metadata: first_step, steps, and by update rate and
// grad_norm. An update that is refused as not finite ends the dump: it then has all but
// updated.NAME and the moments.
//
// Throws Error: kUsage for a batch that does not fit the task or is not exact in float32 and for an
// `at` that lies before the checkpoint, kCorrupt for parameters that do not fit the model, kFile,
// kDiverged.
StepResult run_steps(const StepJob& job);

}  // namespace headroom
