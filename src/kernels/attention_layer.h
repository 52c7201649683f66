// Self-attention with its projections in one piece, for layers with many more head columns than the
// model is wide, such as the many copies of Amsel, Yehudai and Bruna (2025): queries, keys, values
// and sums of a block of heads are computed for a few sequences, used and forgotten; they never lie
// in memory as a whole. Backward computes them again.
#pragma once

#include "core/attention_shape.h"
#include "core/view.h"

namespace headroom::kernels {

// As in model/attention.h: y = output_scale (z Wo^T + sum of the copies' bo). The heads must be
// softmax heads of their own, unmixed.
struct AttentionLayerShape {
  AttentionShape heads;  // queries = keys = T
  std::size_t width;     // C
  double output_scale;
};

template <class T>
struct AttentionWeights {
  View<T, 2> qkv, qkv_bias;        // (2 G K + G V, C): query, key, value rows; one row or none
  View<T, 2> output, output_bias;  // (C, G V), (c, C) or none
};

// Whether the layer beats its parts: what it need not store must be several times what it reads.
inline constexpr std::size_t kManyColumns = 12;  // of all heads' maps, in widths of the model
bool fused_attention_pays(const AttentionLayerShape& s);
// Floats of maps that are made of the weights (kernels/attention_merged.h; 0: none), of one
// worker's buffers, and of the groups' shares of the weight gradients.
std::size_t fused_attention_maps(const AttentionLayerShape& s);
std::size_t fused_attention_scratch(const AttentionLayerShape& s);
std::size_t fused_attention_partials(const AttentionLayerShape& s);

// y, x (B*T, C). maps (fused_attention_maps), workers (threads, fused_attention_scratch).
void fused_attention_forward(View<float, 2> y, View<const float, 2> x,
                             const AttentionWeights<const float>& w, const AttentionLayerShape& s,
                             View<float, 1> maps, View<float, 2> workers);
// dx is written, dw accumulates.
void fused_attention_backward(View<float, 2> dx, const AttentionWeights<float>& dw,
                              View<const float, 2> dy, View<const float, 2> x,
                              const AttentionWeights<const float>& w, const AttentionLayerShape& s,
                              View<float, 1> maps, View<float, 1> partials, View<float, 2> workers);

}  // namespace headroom::kernels
