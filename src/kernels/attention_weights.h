// From scores to weights, one row of a visible table a type. A panel holds the scores of kPanel
// queries with the queries along the vector: (Tk, kPanel).
#pragma once

#include <cstddef>

#include "core/attention_shape.h"
#include "kernels/small_matmul.h"

namespace headroom::kernels {

// One head's panel of `keys` rows, `stride` apart, for the `width` queries (whole vectors) from
// `first` on.
struct Panel {
  float* values;
  std::size_t keys, first;
  bool causal;
  std::size_t stride = kPanel, width = kPanel;
};

struct WeightRule {
  AttentionType type;
  bool unfinished;  // forward leaves weights that lack the factor inverses[i]
  // Scores to weights in place; a masked entry becomes 0. tops and inverses (kPanel) are written by
  // softmax alone.
  void (*forward)(const Panel& scores, float* tops, float* inverses);
  // Scores to finished weights in place, softmax from its saved statistics.
  void (*again)(const Panel& scores, const float* tops, const float* inverses);
  // d (keys, kPanel): the gradient by the weights becomes that by the scores. weights as `again`
  // left them.
  void (*backward)(float* d, const Panel& weights);
};
// One function for all kernels: were it compiled in several places, contraction could round it in
// several ways.
void softmax_forward(const Panel& scores, float* tops, float* inverses);
const WeightRule& weight_rule(AttentionType type);

}  // namespace headroom::kernels
