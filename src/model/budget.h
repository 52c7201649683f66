// What a model costs: the budget d H r that the rank experiments hold fixed, true parameters, and
// FLOPs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"

namespace headroom {

// One part of the model, such as "attention.scores", over all layers.
struct BudgetPart {
  std::string name;
  std::uint64_t parameters = 0;
  std::uint64_t biases = 0;            // of these
  double forward_flops_per_token = 0;  // a multiply-add counts 2; backward costs twice as much
};

// The weights of the heads' maps, without biases. Plain heads have 2 d H r, 2 d H v and 0; mixing
// adds c h (h_k + h_v).
struct HeadWeights {
  std::uint64_t query_key = 0, value_output = 0, mixing = 0;
};

struct Budget {
  std::uint64_t d_h_r = 0;        // width * (copies * score_heads) * key_size of one layer
  std::uint64_t model_d_h_r = 0;  // of all attention, shared layers once
  HeadWeights layer_heads, model_heads;
  std::vector<BudgetPart> layer;  // one layer, by part; of an encoder_decoder, the decoder's
  std::vector<BudgetPart> model;  // the whole model, by part
  std::uint64_t layer_parameters = 0, parameters = 0;
  double layer_flops_per_token = 0, flops_per_token = 0;  // forward
  double step_flops_per_token = 0;  // forward and backward: three times forward
};

// A token is one of the T tokens or Q query tokens of a sequence: the FLOPs of a sequence divided
// by T + Q. Shared layers count once as parameters, each time as FLOPs. Formulas: Amsel, Yehudai,
// Bruna 2025 for d H r; per token a map of p parameters costs 2p, and the scores and the weighted
// sums of n keys cost 2 n H (r + v), mixing 2 n h (h_k + h_v), half of n under a causal mask (n +
// 1) / 2.
Budget model_budget(const ModelConfig& config, const ModelIo& io);

}  // namespace headroom
