// The whole model: embedding, one stack of layers or an encoder and a decoder, read-out.
// transformer_backward reads as transformer_forward from bottom to top.
#pragma once

#include <string>
#include <vector>

#include "model/embedding.h"
#include "model/stack.h"

namespace headroom {

template <class S>
struct TransformerParams {
  EmbeddingParams<S> embedding;
  StackParams<S> encoder;              // of an encoder_decoder; else without layers
  StackParams<S> main;                 // the stack that answers
  View<S, 2> read_out, read_out_bias;  // (O,C), (1,O); absent unless read_out is linear
};

// Activations of one step; every view has this step's dimensions.
template <class S>
struct TransformerCache {
  View<S, 3> tokens, queries;  // (B,T,C) and (B,Q,C): embedded; queries where the task has them
  View<S, 2> sinusoidal;       // (max(T,Q),C)
  StackCache<S> encoder, main;
  View<S, 2> dmemory;  // (B*T,C) where there is cross-attention
  View<S, 3> output;   // (B,T or Q,O)
};

// The config of all functions below is resolved.
template <class S>
TransformerParams<S> transformer_params(Binder<S>& b, const ModelConfig& c, const ModelIo& io);

// Lays the cache out for this step of `tokens` and `queries` a sequence.
template <class S>
void transformer_cache(TransformerCache<S>& cache, Arena<S>& a, const ModelConfig& c,
                       const ModelIo& io, std::size_t batch, std::size_t tokens,
                       std::size_t queries, std::size_t n_threads, bool training, bool inspected);

// input (B,T,D), query (B,Q,D) or empty; the result lies in the cache.
template <class S>
View<const S, 3> transformer_forward(const ModelConfig& c, TransformerCache<S>& cache,
                                     View<const S, 3> input, View<const S, 3> query,
                                     const TransformerParams<S>& p);

// The last forward once more from layer `first` of the encoder or the main stack on, with these
// parameters; what lies below is left as that forward made it.
enum class StackName { kEncoder, kMain };
template <class S>
View<const S, 3> transformer_forward_from(const ModelConfig& c, TransformerCache<S>& cache,
                                          StackName stack, std::size_t first,
                                          const TransformerParams<S>& p);

// One token a sequence behind the first tokens of an earlier forward, as when a causal model writes
// on: the layers' keys and values of those tokens are still there.
template <class S>
struct NextTokenCache {
  View<S, 3> token;       // (B,1,C) embedded
  View<S, 2> sinusoidal;  // (1,C), as in TransformerCache
  StackCache<S> stack;
  View<S, 3> output;  // (B,1,O)
};
// Whether the model can be so continued: an encoder whose tokens see none behind them.
bool can_continue(const ModelConfig& config);
// Whether the forward that made this cache kept what continuing it needs; one kernel a layer does
// not.
template <class S>
bool kept_past(const TransformerCache<S>& cache);
// Lays the cache out for tokens at `position` (from 0).
template <class S>
void next_token_cache(NextTokenCache<S>& next, Arena<S>& a, const ModelConfig& c, const ModelIo& io,
                      std::size_t batch, std::size_t position, std::size_t n_threads);
// token (B,1,D) behind as many tokens of that forward as next is laid out for; the result (B,1,O)
// lies in next.
template <class S>
View<const S, 3> next_token_forward(const ModelConfig& c, NextTokenCache<S>& next,
                                    const TransformerCache<S>& cache, View<const S, 3> token,
                                    const TransformerParams<S>& p);

// One attention layer as the last forward left it; the views point into the cache and the
// parameters.
template <class S>
struct AttentionRecord {
  std::string name;  // that of its parameters, "layers.3.attention"; with shared layers the layer's
  StackName stack = StackName::kMain;
  std::size_t layer = 0;         // of its stack
  bool keys_are_tokens = false;  // key j stands for token j of the sequence
  AttentionSizes sizes;
  AttentionOperands<S> operands;
  View<const S, 2> sums;  // (B*Tq, sums) what the weights made of the values
  AttentionParams<S> params;
};
// In the order in which they run.
template <class S>
std::vector<AttentionRecord<S>> attention_records(const ModelConfig& c,
                                                  const TransformerCache<S>& cache,
                                                  const TransformerParams<S>& p);

// The residual stream (B*T,C) behind the embedding and behind each layer of the last forward.
template <class S>
struct StreamRecord {
  std::string name;  // "tokens", "layers.0", "queries", "decoder.layers.1"
  std::size_t tokens = 0;
  View<const S, 2> rows;
};
template <class S>
std::vector<StreamRecord<S>> stream_records(const ModelConfig& c, const TransformerCache<S>& cache);

// dp accumulates; doutput as the output.
template <class S>
void transformer_backward(const ModelConfig& c, const TransformerParams<S>& dp,
                          View<const S, 3> doutput, View<const S, 3> input, View<const S, 3> query,
                          TransformerCache<S>& cache, const TransformerParams<S>& p);

}  // namespace headroom
