// A run of seconds that goes through what the long one does.
#pragma once

#include "config/run_config.h"

namespace headroom {

// The same model, task, optimizer and accumulation, for at most `steps` updates of a batch as large
// as a step of about `step_flops` allows (at least one item a part). Rows, evaluations, checkpoints
// and the curriculum's stages come every second update, and the schedule's warm-up and horizon,
// where it has them, fall inside. The result is valid if `config` is.
RunConfig shortened(const RunConfig& config, std::uint64_t steps, double step_flops);

}  // namespace headroom
