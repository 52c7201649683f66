// The attention variants, position schemes, blocks and model types, one row each: what they change
// in the small model. Every test over models takes each row at its base size; the sized tests take
// it through all sizes.
#pragma once

#include <string>
#include <vector>

#include "model/model_case.h"

namespace headroom::testing {

struct Variant {
  const char* name;
  bool maskable;                 // whether a causal mask goes with it
  void (*change)(ModelCase& c);  // after sizes are set
};

inline void ask_with_queries(ModelCase& c) {
  c.io.queries = c.io.tokens == 1 ? 3 : c.io.tokens - 1;  // another number than tokens
}
inline void encoder_decoder(ModelCase& c) {
  c.config.type = ModelType::kEncoderDecoder;
  ask_with_queries(c);
}
inline void full_scores(ModelCase& c) {
  c.config.attention.score_map = HeadMap::kFull;
  c.config.attention.key_size.reset();
}
inline void full_values(ModelCase& c) {
  c.config.attention.value_map = HeadMap::kFull;
  c.config.attention.value_size.reset();
}
inline void mix_both(ModelCase& c) {
  AttentionConfig& a = c.config.attention;
  a.mix_scores = a.mix_weights = MixInit::kFanIn;
  a.score_heads = a.heads + 1;
  a.value_heads = 2;
}
inline void rotary(ModelCase& c) {
  c.config.positions.type = PositionsType::kRotary;
  *c.config.attention.key_size += *c.config.attention.key_size % 2;
}

inline constexpr Variant kVariants[] = {
    {"plain", true, [](ModelCase&) {}},
    {"mix_scores_only", true,
     [](ModelCase& c) {
       c.config.attention.mix_scores = MixInit::kFanIn;
       c.config.attention.score_heads = 4;
     }},
    {"mix_weights_only", true,
     [](ModelCase& c) {
       c.config.attention.mix_weights = MixInit::kFanIn;
       c.config.attention.value_heads = 2;
     }},
    {"mix_scores_and_weights", true, mix_both},
    {"multi_query_heads", true, [](ModelCase& c) { c.config.attention.kv_heads = 1; }},
    {"linear", true, [](ModelCase& c) { c.config.attention.type = AttentionType::kLinear; }},
    {"relu_weights", true, [](ModelCase& c) { c.config.attention.type = AttentionType::kRelu; }},
    {"sigmoid", true, [](ModelCase& c) { c.config.attention.type = AttentionType::kSigmoid; }},
    {"value_full", true, full_values},
    {"score_full", true,
     [](ModelCase& c) {
       full_scores(c);
       c.config.attention.copies = 2;
     }},
    {"bilinear", true,
     [](ModelCase& c) {
       full_scores(c);
       full_values(c);
       c.config.bias = false;
     }},
    {"bilinear_mixed", true,
     [](ModelCase& c) {
       full_scores(c);
       full_values(c);
       mix_both(c);
       c.config.attention.combine = Combine::kSum;
       c.config.attention.copies = 2;
     }},
    {"scale_inv_key_size", true,
     [](ModelCase& c) { c.config.attention.scale = ScaleRule::kInvKeySize; }},
    {"scale_number", true, [](ModelCase& c) { c.config.attention.scale = 0.7; }},
    {"scale_learned", true,
     [](ModelCase& c) {
       c.config.attention.scale = ScaleRule::kLearned;
       c.config.attention.copies = 2;
     }},
    {"scale_learned_mixed", true,
     [](ModelCase& c) {
       c.config.attention.scale = ScaleRule::kLearned;
       mix_both(c);
     }},
    {"qk_l2", true,
     [](ModelCase& c) {
       c.config.attention.qk_norm = QkNorm::kL2;
       c.config.attention.scale = 3.5;
     }},
    {"qk_rms_rotary", true,
     [](ModelCase& c) {
       rotary(c);
       c.config.attention.qk_norm = QkNorm::kRms;
       c.config.attention.scale = ScaleRule::kLearned;
     }},
    {"cross", false,
     [](ModelCase& c) {
       c.config.attention.kind = AttentionKind::kCross;
       ask_with_queries(c);
     }},
    {"cross_variants", false,
     [](ModelCase& c) {
       c.config.attention.kind = AttentionKind::kCross;
       ask_with_queries(c);
       full_scores(c);
       mix_both(c);
       c.config.norm = {NormType::kLayerNorm, NormPlacement::kPre, {}, {}};
       c.config.positions.type = PositionsType::kSinusoidal;
     }},
    // Amsel et al.'s stand-alone layer: full value maps, no residual, norm, FFN or bias.
    {"attention_alone", false,
     [](ModelCase& c) {
       c.config.attention.kind = AttentionKind::kCross;
       ask_with_queries(c);
       full_values(c);
       c.config.residual = c.config.bias = false;
       c.config.norm.type = NormType::kNone;
       c.config.ffn.width = 0;
       c.config.layers = 1;
       c.config.init = Init::kXavier;
     }},
    {"encoder_decoder", true, encoder_decoder},
    {"encoder_decoder_t5", true,
     [](ModelCase& c) {
       encoder_decoder(c);
       c.config.positions.type = PositionsType::kRelativeBias;
       c.config.norm = {NormType::kRmsNorm, NormPlacement::kPre, {}, {}};
       c.config.bias = false;
       c.config.attention.scale = 1.0;
     }},
    {"encoder_decoder_qk_rms", true,
     [](ModelCase& c) {
       encoder_decoder(c);
       rotary(c);
       c.config.attention.qk_norm = QkNorm::kRms;
       c.config.share_layers = true;
       c.config.ffn.width = 0;
     }},
    {"concatenated", true,
     [](ModelCase& c) {
       c.config.width = 10;
       c.config.positions = {PositionsType::kConcatenated, 3, 20};
     }},
    {"concatenated_read_in", true,
     [](ModelCase& c) {
       c.config.positions = {PositionsType::kConcatenated, 3, {}};
     }},
    {"learned", true, [](ModelCase& c) { c.config.positions.type = PositionsType::kLearned; }},
    {"sinusoidal", true,
     [](ModelCase& c) { c.config.positions.type = PositionsType::kSinusoidal; }},
    {"rotary", true, rotary},
    {"alibi", true, [](ModelCase& c) { c.config.positions.type = PositionsType::kAlibi; }},
    {"relative_bias", true,
     [](ModelCase& c) {
       c.config.positions.type = PositionsType::kRelativeBias;
       c.config.attention.copies = 2;
     }},
    {"relative_bias_mixed", true,
     [](ModelCase& c) {
       c.config.positions.type = PositionsType::kRelativeBias;
       mix_both(c);
     }},
    {"rmsnorm_pre", true,
     [](ModelCase& c) {
       c.config.norm = {NormType::kRmsNorm, NormPlacement::kPre, {}, {}};
       c.config.ffn.activation = Activation::kSilu;
     }},
    {"rmsnorm_post", true, [](ModelCase& c) { c.config.norm.type = NormType::kRmsNorm; }},
    {"gelu", true, [](ModelCase& c) { c.config.ffn.activation = Activation::kGelu; }},
    {"silu", true, [](ModelCase& c) { c.config.ffn.activation = Activation::kSilu; }},
    {"swiglu", true, [](ModelCase& c) { c.config.ffn.activation = Activation::kSwiglu; }},
    {"swiglu_no_bias", true,
     [](ModelCase& c) {
       c.config.ffn.activation = Activation::kSwiglu;
       c.config.bias = false;
     }},
    {"shared_layers", true,
     [](ModelCase& c) {
       c.config.layers = 3;
       c.config.share_layers = true;
       c.config.norm = {NormType::kLayerNorm, NormPlacement::kPost, {}, {}};
     }},
    {"xavier", true, [](ModelCase& c) { c.config.init = Init::kXavier; }},
    {"mup", true,
     [](ModelCase& c) {
       c.config.init = Init::kMup;
       c.config.attention.scale = ScaleRule::kInvKeySize;
     }},
};

inline std::vector<Mask> masks_of(const Variant& v) {
  return v.maskable ? std::vector{Mask::kNone, Mask::kCausal} : std::vector{Mask::kNone};
}

// Each at the base size.
inline std::vector<ModelCase> variant_cases() {
  std::vector<ModelCase> cases;
  for (const Variant& v : kVariants)
    for (const Mask mask : masks_of(v)) {
      ModelCase c = base_case(std::string("variant_") + v.name, mask);
      v.change(c);
      cases.push_back(c);
    }
  return cases;
}

// One variant at every number of heads with every key size, less than, equal to and above the
// width; the numbers of tokens go round, so that each meets each number of heads and each key size.
inline std::vector<ModelCase> sized_cases(const Variant& v) {
  constexpr std::size_t kTokens[] = {1, 3, 17};
  std::vector<ModelCase> cases;
  for (const Mask mask : masks_of(v)) {
    std::size_t round = 0;
    for (const std::size_t heads : {1, 3, 5})
      for (const std::size_t key_size : {1, 2, 7, 16, 40}) {
        const std::size_t tokens = kTokens[(round++ + heads) % 3];
        ModelCase c = base_case(v.name, mask);
        c.name += "_h" + std::to_string(heads) + "_r" + std::to_string(key_size) + "_t" +
                  std::to_string(tokens);
        c.io.tokens = tokens;
        c.config.layers = 1;
        c.config.attention.heads = heads;
        c.config.attention.key_size = key_size;
        c.config.attention.value_size = key_size == 16 ? 1 : 9;
        v.change(c);
        cases.push_back(c);
      }
  }
  return cases;
}

}  // namespace headroom::testing
