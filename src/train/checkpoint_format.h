// What the writer and the reader of checkpoints must agree on (CHECKPOINT.md).
#pragma once

#include <string_view>

#include "train/optimizer.h"

namespace headroom {

inline constexpr const char* kCheckpointFormat = "headroom-checkpoint";
inline constexpr const char* kCheckpointVersion = "1";
inline constexpr std::string_view kFirstMoment = "optimizer.m.", kSecondMoment = "optimizer.v.";

inline const char* optimizer_name(OptimizerType type) { return name_in(kOptimizerTypes, type); }

}  // namespace headroom
