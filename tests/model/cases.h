// The model variants that the gradient, twin and causality tests run through.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "model/model.h"

namespace headroom::testing {

struct ModelCase {
  std::string name;
  ModelConfig config;
  ModelIo io;
  std::size_t batch = 2;
  std::size_t stride = 1;
};

inline void PrintTo(const ModelCase& c, std::ostream* out) { *out << c.name; }

// Parameters whose gradient is 0 in theory and rounding in practice: under softmax the key bias,
// and query and key where there is a single key; the scalar of an L2 norm whose output reaches the
// next L2 norm through maps that only scale with it.
inline bool without_effect(const ModelCase& c, const std::string& name) {
  const bool softmax = c.config.attention.type == AttentionType::kSoftmax;
  if (softmax && name.ends_with("attention.key.bias")) return true;
  const bool query_or_key = name.find(".query.") != std::string::npos ||
                            name.find(".key.") != std::string::npos ||
                            name.find(".mix_scores.") != std::string::npos;
  if (softmax && query_or_key && c.io.tokens == 1) return true;
  const bool post_l2 =
      c.config.norm.type == NormType::kL2 && c.config.norm.placement == NormPlacement::kPost;
  if (!post_l2) return false;
  // Without biases ReLU's FFN is homogeneous, so norm2 undoes norm1's scalar; a final norm undoes
  // the last norm2's.
  if (!c.config.bias && name.ends_with("norm1.weight")) return true;
  return c.config.norm.final_norm == true && name == "layers.1.norm2.weight";
}

// Every variant of norm, placement, activation, bias, positions, read-in and read-out,
// initialisation and copies, each with and without a causal mask, at odd sizes.
inline std::vector<ModelCase> model_cases() {
  std::vector<ModelCase> cases;
  const auto add = [&](const std::string& name, auto&& change) {
    for (const Mask mask : {Mask::kNone, Mask::kCausal}) {
      ModelCase c;
      c.name = name + (mask == Mask::kCausal ? "_causal" : "");
      c.io = {7, 7, 5};
      c.config.layers = 2;
      c.config.width = 7;
      c.config.ffn.width = 11;
      c.config.attention.heads = 3;
      c.config.attention.key_size = 2;
      c.config.attention.value_size = 5;
      c.config.attention.mask = mask;
      change(c);
      cases.push_back(c);
    }
  };
  add("post_l2", [](ModelCase&) {});
  add("pre_l2", [](ModelCase& c) { c.config.norm.placement = NormPlacement::kPre; });
  add("post_layernorm", [](ModelCase& c) { c.config.norm.type = NormType::kLayerNorm; });
  add("pre_layernorm", [](ModelCase& c) {
    c.config.norm.type = NormType::kLayerNorm;
    c.config.norm.placement = NormPlacement::kPre;
    c.config.ffn.activation = Activation::kGeluTanh;
  });
  add("no_norm", [](ModelCase& c) { c.config.norm.type = NormType::kNone; });
  add("no_residual", [](ModelCase& c) { c.config.residual = false; });
  add("no_residual_pre", [](ModelCase& c) {
    c.config.residual = false;
    c.config.norm.placement = NormPlacement::kPre;
  });
  add("no_ffn", [](ModelCase& c) { c.config.ffn.width = 0; });
  add("no_bias", [](ModelCase& c) { c.config.bias = false; });
  add("copies_mean", [](ModelCase& c) { c.config.attention.copies = 3; });
  add("copies_sum", [](ModelCase& c) {
    c.config.attention.copies = 2;
    c.config.attention.combine = Combine::kSum;
  });
  add("gpt2", [](ModelCase& c) {
    c.io = {3, 1, 6};
    c.stride = 2;
    c.config.width = 12;
    c.config.norm = {NormType::kLayerNorm, NormPlacement::kPre, {}, {}};
    c.config.positions = {PositionsType::kLearned, 9};
    c.config.attention.key_size.reset();
    c.config.attention.value_size.reset();
    c.config.ffn = {48, Activation::kGeluTanh};
    c.config.init = Init::kGpt2;
  });
  add("slice", [](ModelCase& c) {
    c.io = {7, 3, 5};
    c.config.read_out = ReadOut::kSlice;
  });
  add("mix_scores", [](ModelCase& c) {
    c.config.attention.mix_scores = MixInit::kFanIn;
    c.config.attention.score_heads = 2;
    c.config.attention.copies = 2;
  });
  add("mix_scores_identity",
      [](ModelCase& c) { c.config.attention.mix_scores = MixInit::kIdentity; });
  add("mix_weights", [](ModelCase& c) {
    c.config.attention.mix_weights = MixInit::kFanIn;
    c.config.attention.value_heads = 5;
  });
  for (const std::size_t tokens : {1, 3, 17, 40})
    add("mix_both_t" + std::to_string(tokens), [&](ModelCase& c) {
      c.io.tokens = tokens;
      c.config.layers = 1;
      c.config.attention.mix_scores = c.config.attention.mix_weights = MixInit::kFanIn;
      c.config.attention.score_heads = 4;
      c.config.attention.value_heads = 2;
      c.config.attention.copies = 2;
      c.config.attention.key_size = 9;
    });
  add("grouped", [](ModelCase& c) {
    c.config.attention.heads = 4;
    c.config.attention.kv_heads = 2;
    c.config.attention.copies = 2;
  });
  add("multi_query", [](ModelCase& c) {
    c.config.attention.kv_heads = 1;
    c.config.attention.mix_scores = MixInit::kFanIn;
  });
  for (const auto& [name, type] : {std::pair{"linear", AttentionType::kLinear},
                                   {"relu", AttentionType::kRelu},
                                   {"sigmoid", AttentionType::kSigmoid}})
    for (const std::size_t tokens : {1, 5, 17}) {
      const auto change = [&](ModelCase& c) {
        c.config.attention.type = type;
        c.io.tokens = tokens;
        c.config.layers = 1;
      };
      add(std::string(name) + "_t" + std::to_string(tokens), change);
      add(std::string(name) + "_mixed_t" + std::to_string(tokens), [&](ModelCase& c) {
        change(c);
        c.config.attention.mix_scores = c.config.attention.mix_weights = MixInit::kFanIn;
      });
    }
  add("final_norm_post", [](ModelCase& c) { c.config.norm.final_norm = true; });
  add("identical_layers", [](ModelCase& c) { c.config.init_layers = InitLayers::kIdentical; });
  for (const std::size_t heads : {1, 3, 5})
    for (const std::size_t key_size : {1, 2, 7, 16, 40})
      for (const std::size_t tokens : {1, 3, 17})
        add("h" + std::to_string(heads) + "_r" + std::to_string(key_size) + "_t" +
                std::to_string(tokens),
            [&](ModelCase& c) {
              c.config.layers = 1;
              c.config.attention.heads = heads;
              c.config.attention.key_size = key_size;
              c.config.attention.value_size = key_size == 16 ? 1 : 9;
              c.io.tokens = tokens;
            });
  return cases;
}

}  // namespace headroom::testing
