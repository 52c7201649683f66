#include "model/model_config.h"

#include <limits>

namespace headroom {
namespace {

constexpr IntegerRange kSize{1, 65536};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

std::size_t embedded_width(const ModelConfig& c) {
  return c.positions.type == PositionsType::kConcatenated ? c.width - *c.positions.width : c.width;
}

void NormConfig::declare(Fields& f) {
  f.choice("type", type, kNormTypes, "How the rows of the residual stream are normalised.");
  f.choice("placement", placement, kNormPlacements,
           "Where the norm sits about each block f (attention, FFN).");
  f.only_for({"layernorm", "rmsnorm", "l2"});
  f.real("eps", eps, {0, 1},
         "layernorm and rmsnorm: added to the variance or mean square, above 0; l2: the least norm "
         "that a row is divided by; null = 1e-5, 0 for l2.")
      .alias({"epsilon", "layer_norm_eps"});
  f.boolean("final", final_norm, "One more norm before read_out; null = only with placement pre.");
  f.only_for({});
}

void PositionsConfig::declare(Fields& f) {
  f.choice("type", type, kPositionsTypes, "How the model learns where in the sequence a token is.");
  f.only_for({"concatenated"});
  f.integer("width", width, kSize,
            "Coordinates of the model's width that hold the position; null = what the token "
            "leaves of it.")
      .alias({"positional_dim", "pos_dim"});
  f.only_for({"learned", "concatenated"});
  f.integer("length", length, {1, 1 << 20},
            "Positions there are; null = the task's longest sequence.")
      .alias({"max_length", "n_positions", "block_size"});
  f.only_for({});
}

void HeadBudget::declare(Fields& f) {
  f.choice_or_real("budget", budget, kBudgetPowers, {1, 1e15},
                   "width * heads * key_size of one layer, heads over all copies; key_size must be "
                   "given and the heads come out whole.")
      .alias({"d_h_r", "params_per_layer"});
}

void AttentionConfig::declare(Fields& f) {
  f.choice("type", type, kAttentionTypes, "How scores become weights.");
  f.choice("kind", kind, kAttentionKinds, "Where queries and keys come from.");
  f.integer_or_section("heads", heads.given, kSize,
                       "Attention heads per copy, or the budget from which their number follows.")
      .alias({"n_heads", "num_heads", "n_head", "nhead"});
  f.integer("key_size", key_size, kSize,
            "Size of a head's queries and keys, its rank; null = width / heads, which must divide "
            "(width with score_map full); a budget needs it given.")
      .alias({"rank", "head_dim", "head_size", "d_k", "key_dim"});
  f.integer("value_size", value_size, kSize,
            "Size of a head's values; null = width / heads, which must divide, or with a budget "
            "key_size "
            "(width with value_map full).")
      .alias({"d_v", "value_dim"});
  f.integer("copies", copies, {1, 65536},
            "Attention modules of `heads` heads each, in parallel in a layer.");
  f.choice("combine", combine, kCombines, "What becomes of the copies' outputs.");
  f.integer("kv_heads", kv_heads, kSize,
            "Heads of keys and values a copy, each shared by heads / kv_heads query heads (grouped "
            "queries; "
            "1: multi-query); null = heads.")
      .alias({"n_kv_heads", "num_key_value_heads"});
  f.choice_or_real("scale", scale, kScaleRules, {-kInfinity, kInfinity},
                   "What scores are multiplied by, before they are mixed.")
      .alias({"scaling", "softmax_scale", "attention_scale"});
  f.choice("qk_norm", qk_norm, kQkNorms,
           "Normalisation of each head's queries and keys, before positions and scale.")
      .alias({"query_key_norm"});
  f.choice(
       "mix_scores", mix_scores, kMixInits,
       "Talking heads: mixes the scaled scores of a copy's heads before the mask and the weights.")
      .alias({"talking_heads", "mix_logits"});
  f.choice("mix_weights", mix_weights, kMixInits,
           "Talking heads: mixes the weights of a copy's heads before they sum the values.");
  f.integer("score_heads", score_heads, kSize,
            "Queries and keys a copy, h_k, mixed to `heads` scores by mix_scores; null = heads.");
  f.integer("value_heads", value_heads, kSize,
            "Values a copy, h_v, whose weights mix_weights makes of `heads`; null = heads.");
  f.choice("score_map", score_map, kScoreMaps, "The bilinear form of a head's scores.");
  f.choice("value_map", value_map, kValueMaps, "What a head adds for what it finds.");
  f.choice("value_init", value_init, kValueInits, "How the value maps start.");
  f.choice("mask", mask, kMasks,
           "Which keys a query sees in self-attention; of an encoder_decoder, in the decoder's.")
      .alias({"causal"});
}

void FfnConfig::declare(Fields& f) {
  f.integer("width", width, {0, 1 << 20},
            "Hidden units of the feed-forward block; 0 = no such block.")
      .alias({"d_ff", "hidden", "hidden_size", "dim_feedforward"});
  f.choice("activation", activation, kActivations, "What the hidden units compute.");
}

void ModelConfig::declare(Fields& f) {
  f.choice("type", type, kModelTypes, "How the layers are arranged.");
  f.integer("layers", layers, {1, 1024}, "Layers, each attention then FFN.")
      .alias({"n_layers", "num_layers", "n_layer", "depth"});
  f.integer("width", width, kSize, "Size of the residual stream.")
      .alias({"d_model", "n_embd", "embed_dim", "hidden_size", "dim_model"});
  f.choice("read_in", read_in, kReadIns,
           "From the task's tokens to the width; null = identity where the widths are equal, else "
           "linear.");
  f.choice("read_out", read_out, kReadOuts,
           "From the width to the answer; null = identity or slice where tokens are read in as "
           "they are and "
           "answers are as large, else linear.");
  f.section("norm", norm, "Normalisation.");
  f.section("positions", positions, "Positions.");
  f.section("attention", attention, "Attention.");
  f.section("ffn", ffn, "The feed-forward block of each layer.").alias({"mlp", "feed_forward"});
  f.boolean("residual", residual, "Add each block's input to its output.");
  f.boolean("bias", bias, "Biases in attention, FFN, read_in and read_out.");
  f.boolean("share_layers", share_layers,
            "All layers of a stack are one and the same, applied again (Lan et al. 2020).")
      .alias({"tied_layers", "tie_layers"});
  f.choice("init", init, kInits, "How parameters are drawn.");
  f.choice("init_layers", init_layers, kInitLayers, "Whether layers start different.");
}

}  // namespace headroom
