// The honest control of a config whose heads mix or share: plain multi-head attention that spends
// as many true parameters, so that a difference in loss is not one in size.
#pragma once

#include <cstdint>
#include <optional>

#include "model/model.h"

namespace headroom {

enum class ControlBy { kHeads, kFfn };  // what is varied: attention.heads, or ffn.width

inline constexpr std::uint64_t kControlPercent = 1;  // how far the parameters may be apart

struct Control {
  ModelConfig config;  // unresolved: the original with few fields changed
  std::uint64_t parameters = 0;
};

struct ControlSearch {
  std::uint64_t original = 0;       // parameters of the config itself
  std::optional<Control> at_least;  // the smallest control of as many parameters or more
  std::optional<Control> below;     // the largest control of fewer
  // The one within kControlPercent of the original, at_least before below; nullptr: neither is.
  const Control* match() const;
};

// The same config with what its heads mix and share undone: mix_scores and mix_weights none,
// score_heads, value_heads and kv_heads null, full score and value maps in two factors of the same
// rank. The number of softmaxes `heads`, key_size, value_size, copies and all outside the attention
// stay. Throws Error(kUsage) as resolve() does.
ModelConfig plain_model(const ModelConfig& config, const ModelIo& io);

// Searches attention.heads 1 .. 65536 or ffn.width 1 .. 2^20 of the plain model; the parameters, as
// model_budget counts them, grow with either. key_size and value_size are held at the original's
// resolved sizes. Throws Error(kUsage) for a config that resolve() refuses, and for kFfn where
// there is no FFN: a new block is no control.
ControlSearch find_control(const ModelConfig& config, const ModelIo& io, ControlBy by);

}  // namespace headroom
