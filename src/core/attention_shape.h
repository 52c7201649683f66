// The sizes of one attention operation, shared by the kernels and their reference twins.
#pragma once

#include <cstddef>

#include "core/view.h"

namespace headroom {

// How a row of scores becomes a row of weights over the n keys that its query sees.
enum class AttentionType {
  kSoftmax,  // exp(s) / sum of exp
  kLinear,   // s / n
  kRelu,     // max(s, 0) / n
  kSigmoid,  // 1 / (1 + exp(-s))
  kHard      // 1 for the first of the largest, else 0: no gradient
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
  bool shared_key = false;     // one key, of size K, that every head of every copy reads
  bool mixes_scores = false, mixes_weights = false;
  bool biased = false;  // scores get biases by distance (AttentionMixers)
  double scale = 1;     // of the scores, before mixing
  bool causal = false;  // query t sees keys 0 .. t
  AttentionType type = AttentionType::kSoftmax;
};

// What mixed attention computes with besides queries, keys and values; each is empty where there is
// no such thing.
template <class S>
struct AttentionMixers {
  View<S, 3> scores;   // (c,h,h_k) mixes scores
  View<S, 3> weights;  // (c,h_v,h) mixes weights
  View<S, 2> bias;  // (c h, Tq + Tk - 1): entry i - j + Tk - 1 is added to the mixed score of query
                    // i and key j
};

template <class S>
AttentionMixers<const S> read_only(const AttentionMixers<S>& m) {
  return {m.scores, m.weights, m.bias};
}

}  // namespace headroom
