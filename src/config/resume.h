// With which config a run may go on.
#pragma once

#include "config/run_config.h"

namespace headroom {

// `given` continues a run of config `run` where every update taken so far would have been the same:
// the two may differ in the section `run`, and `given` may have more train.steps where that moves
// no learning rate (a schedule with steps of its own, or a constant one whose warm-up keeps its
// length). Values are compared after resolving what is null. Throws Error(kUsage) naming `folder`
// and every other key that differs, with both values.
void require_resumable(const RunConfig& run, const RunConfig& given, const std::string& folder);

// The parameters in `file` were trained with config `trained`: one line that names the file and
// every key of `model` in which `config` differs, but for how they are drawn, with both values; ""
// where none does. Shapes alone do not tell: heads of rank 1 and of rank 16 have the same tensors.
std::string other_model(const RunConfig& trained, const RunConfig& config, const std::string& file);

// Throws Error(kCorrupt) with such a line for every key of `model` and `task`.
void require_same_model(const RunConfig& trained, const RunConfig& config, const std::string& file);

}  // namespace headroom
