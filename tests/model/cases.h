// The models that the gradient, twin and causality tests run through.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/variants.h"

namespace headroom::testing {

// Every variant of norm, placement, activation, bias, positions, read-in and read-out,
// initialisation and copies, each with and without a causal mask, at odd sizes.
inline std::vector<ModelCase> model_cases() {
  std::vector<ModelCase> cases;
  const auto add = [&](const std::string& name, auto&& change) {
    for (const Mask mask : {Mask::kNone, Mask::kCausal}) {
      ModelCase c = base_case(name, mask);
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
    c.config.positions = {PositionsType::kLearned, {}, 9};
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
  for (const ModelCase& c : variant_cases()) cases.push_back(c);
  return cases;
}

}  // namespace headroom::testing
