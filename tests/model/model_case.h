// One model of the tests, and what is known of its gradients.
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

// Tokens that are asked, and that a prediction stands at.
inline std::size_t askers(const ModelCase& c) {
  return c.io.queries > 0 ? c.io.queries : c.io.tokens;
}

// Parameters whose gradient is 0 in theory and rounding in practice: under softmax the key bias,
// and all that makes scores where there is a single key; normalised queries and keys of a single
// coordinate; the scalar of an L2 norm whose output reaches the next L2 norm through maps that only
// scale with it.
inline bool without_effect(const ModelCase& c, const std::string& name) {
  const AttentionConfig& a = c.config.attention;
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  const bool softmax = a.type == AttentionType::kSoftmax;
  // A constant per row of scores, unless keys are normalised or turned after it.
  const bool turned = c.config.positions.type == PositionsType::kRotary && !has("cross_attention");
  if (softmax && name.ends_with("attention.key.bias") && a.qk_norm == QkNorm::kNone && !turned)
    return true;
  const bool query_or_key = has(".query.") || has(".key.");
  const bool scores =
      query_or_key || has(".mix_scores.") || has(".scale.") ||
      (c.config.positions.type == PositionsType::kRelativeBias && has("positions.weight"));
  if (softmax && scores && c.io.tokens == 1 && !has("decoder")) return true;
  // A decoder's own attention is among its queries, its cross-attention among the tokens.
  if (softmax && scores && has("decoder") &&
      (has("cross_attention") ? c.io.tokens : c.io.queries) == 1)
    return true;
  // The norm before the queries of cross-attention, where they have one key to find.
  const bool pre = c.config.norm.placement == NormPlacement::kPre;
  const char* cross_norm = a.kind == AttentionKind::kCross ? "norm1." : "decoder.layers.0.norm2.";
  if (softmax && pre && c.io.queries > 0 && c.io.tokens == 1 && has(cross_norm)) return true;
  if (a.qk_norm != QkNorm::kNone && a.key_size == 1u && query_or_key) return true;
  const bool post_l2 =
      c.config.norm.type == NormType::kL2 && c.config.norm.placement == NormPlacement::kPost;
  if (!post_l2) return false;
  // Without biases ReLU's FFN is homogeneous, so norm2 undoes norm1's scalar; a final norm undoes
  // the last norm2's.
  if (!c.config.bias && c.config.ffn.activation == Activation::kRelu &&
      name.ends_with("norm1.weight"))
    return true;
  return c.config.norm.final_norm == true && name == "layers.1.norm2.weight";
}

// The small model that cases change.
inline ModelCase base_case(const std::string& name, Mask mask) {
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
  return c;
}

}  // namespace headroom::testing
