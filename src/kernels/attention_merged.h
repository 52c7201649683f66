// Self-attention of softmax heads whose keys and values are at least as wide as the model: a head
// then needs W_K^T W_Q and W_O W_V alone, (C,C) each, instead of four maps of C x K and C x V.
// Queries are x W_Q^T W_K, and every head reads the tokens themselves as keys and values: less than
// half of the products. What the key's bias adds to a query's scores is one number, to which
// softmax is blind; the value's bias adds W_O b_V to every output.
#pragma once

#include "kernels/attention_layer.h"

namespace headroom::kernels {

// Whether the layer beats its four maps.
bool merged_attention_pays(const AttentionLayerShape& s);
// Floats of the merged maps, of one worker's buffers, and of the groups' shares of the gradients.
std::size_t merged_attention_maps(const AttentionLayerShape& s);
std::size_t merged_attention_scratch(const AttentionLayerShape& s);
std::size_t merged_attention_partials(const AttentionLayerShape& s);

// As fused_attention_forward and _backward, of which these are the case that pays.
void merged_attention_forward(View<float, 2> y, View<const float, 2> x,
                              const AttentionWeights<const float>& w, const AttentionLayerShape& s,
                              View<float, 1> maps, View<float, 2> workers);
void merged_attention_backward(View<float, 2> dx, const AttentionWeights<float>& dw,
                               View<const float, 2> dy, View<const float, 2> x,
                               const AttentionWeights<const float>& w, const AttentionLayerShape& s,
                               View<float, 1> maps, View<float, 1> partials,
                               View<float, 2> workers);

}  // namespace headroom::kernels
