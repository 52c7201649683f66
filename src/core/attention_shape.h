// The sizes of one attention operation, shared by the kernels and their reference twins.
#pragma once

#include <cstddef>

namespace headroom {

// How a row of scores becomes a row of weights over the n keys that its query sees.
enum class AttentionType {
  kSoftmax,  // exp(s) / sum of exp
  kLinear,   // s / n
  kRelu,     // max(s, 0) / n
  kSigmoid   // 1 / (1 + exp(-s))
};

// A layer holds `copies` modules. In each, score_heads (h_k) scores are mixed to heads (h) rows of
// weights, and these to value_heads (h_v) sums; without mixing the three are equal. G = copies *
// heads.
struct AttentionShape {
  std::size_t batch = 0;                                    // B
  std::size_t queries = 0;                                  // Tq
  std::size_t keys = 0;                                     // Tk
  std::size_t copies = 1;                                   // c
  std::size_t score_heads = 1, heads = 1, value_heads = 1;  // h_k, h, h_v of one copy
  std::size_t group = 1;       // query heads that share one key and value head (grouped queries)
  std::size_t key_size = 0;    // K
  std::size_t value_size = 0;  // V
  double scale = 1;            // of the scores, before mixing
  bool causal = false;         // query t sees keys 0 .. t
  AttentionType type = AttentionType::kSoftmax;
};

}  // namespace headroom
