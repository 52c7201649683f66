// How each tensor starts, by model.init.
#pragma once

#include "model/attention.h"
#include "model/ffn.h"

namespace headroom {

struct LinearInit {
  InitRule weight, bias;
};

// Of a resolved config.
AttentionInit attention_init(const ModelConfig& c);
FfnInit ffn_init(const ModelConfig& c);
LinearInit read_in_init(const ModelConfig& c, std::size_t input_dim);
LinearInit read_out_init(const ModelConfig& c, std::size_t output_dim);
// Of the position table, whichever there is.
InitRule positions_init(const ModelConfig& c);

}  // namespace headroom
