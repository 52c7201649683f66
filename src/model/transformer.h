// The whole stack: read-in, positions, layers, final norm, read-out. transformer_backward reads as
// transformer_forward from bottom to top.
#pragma once

#include <vector>

#include "model/block.h"
#include "model/model.h"

namespace headroom {

template <class S>
struct TransformerParams {
  View<S, 2> read_in, read_in_bias;  // (C,D), (1,C); absent where read_in is identity
  View<S, 2> positions;              // (length,C); absent without positions
  std::vector<BlockParams<S>> layers;
  NormParams<S> final_norm;
  View<S, 2> read_out, read_out_bias;  // (O,C), (1,O); absent unless read_out is linear
};

// Activations of one step; every view has this step's dimensions.
template <class S>
struct TransformerCache {
  View<S, 3> embedded;  // (B,T,C) the first layer's input
  std::vector<BlockCache<S>> layers;
  NormCache<S> final_norm;
  View<S, 2> final_out;  // (n,C)
  View<S, 3> output;     // (B,T,O)
  BlockScratch<S> scratch;
  View<S, 2> dx[3];  // (n,C) gradients of activations, used in turn
};

// The config of all functions below is resolved.
template <class S>
TransformerParams<S> transformer_params(Binder<S>& b, const ModelConfig& c, const ModelIo& io);

// Lays the cache out for this step; n_layers views are kept in `cache.layers`, which is reused.
template <class S>
void transformer_cache(TransformerCache<S>& cache, Arena<S>& a, const ModelConfig& c,
                       const ModelIo& io, std::size_t batch, std::size_t tokens,
                       std::size_t n_threads, bool training);

// input (B,T,D); the result (B,T,O) lies in the cache.
template <class S>
View<const S, 3> transformer_forward(const ModelConfig& c, TransformerCache<S>& cache,
                                     View<const S, 3> input, const TransformerParams<S>& p);

// dp accumulates; doutput (B,T,O).
template <class S>
void transformer_backward(const ModelConfig& c, const TransformerParams<S>& dp,
                          View<const S, 3> doutput, View<const S, 3> input,
                          const TransformerCache<S>& cache, const TransformerParams<S>& p);

}  // namespace headroom
