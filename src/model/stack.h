// A stack of layers with what they share: biases by distance, rotary angles, the final norm, and
// memory for their gradients. stack_backward reads as stack_forward from bottom to top.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "model/block.h"
#include "model/init.h"
#include "model/positions.h"

namespace headroom {

template <class S>
struct StackParams {
  View<S, 2> distance_table;           // (buckets, c h) of relative_bias, else empty
  std::vector<BlockParams<S>> layers;  // a single one with share_layers
  NormParams<S> final_norm;
  const BlockParams<S>& layer(std::size_t i) const {
    return layers[std::min(i, layers.size() - 1)];
  }
};

template <class S>
struct StackCache {
  BlockPlan plan;
  View<S, 2> bias, dbias;  // (c h, Tq + Tk - 1) of alibi and relative_bias, else empty
  View<S, 2> rotary;       // (T,K)
  std::vector<BlockCache<S>> layers;
  NormCache<S> final_norm;
  View<S, 2> final_out;  // (n,C)
  BlockScratch<S> scratch;
  GradientBuffers<S> d;
};

template <class S>
StackParams<S> stack_params(Binder<S>& b, const ModelConfig& c, const std::string& prefix,
                            bool decoder) {
  StackParams<S> p;
  b.enter(prefix);
  if (c.positions.type == PositionsType::kRelativeBias)
    p.distance_table = b.template tensor<2>(
        "positions.weight", {kRelativeBuckets, c.attention.copies * c.attention.heads},
        positions_init(c), false);
  const std::size_t first_stream = b.stream();
  const AttentionInit attention = attention_init(c);
  for (std::size_t layer = 0; layer < (c.share_layers ? 1 : c.layers); ++layer) {
    if (c.init_layers == InitLayers::kIdentical) b.set_stream(first_stream);
    b.enter(prefix + "layers." + std::to_string(layer) + ".");
    BlockParams<S> block;
    int norms = 0;
    const auto norm = [&] { return norm_params(b, c, "norm" + std::to_string(++norms)); };
    block.attention = attention_params(b, c, "attention", attention);
    block.norm1 = norm();
    if (decoder) {
      block.cross_attention = attention_params(b, c, "cross_attention", attention);
      block.cross_norm = norm();
    }
    if (c.ffn.width > 0) {
      block.ffn = ffn_params(b, c, "ffn", ffn_init(c));
      block.ffn_norm = norm();
    }
    p.layers.push_back(block);
  }
  b.enter(prefix);
  if (*c.norm.final_norm) p.final_norm = norm_params(b, c, "final_norm");
  b.enter("");
  return p;
}

// -slope |i - j| for every head of every copy.
template <class S>
void fill_alibi(View<S, 2> bias, std::size_t heads, std::size_t keys) {
  const std::vector<double> slopes = alibi_slopes(heads);
  for (std::size_t g = 0; g < bias.dims[0]; ++g)
    for (std::size_t e = 0; e < bias.dims[1]; ++e)
      bias(g, e) =
          static_cast<S>(-slopes[g % heads] * std::abs(static_cast<double>(distance_of(e, keys))));
}

template <class S>
void stack_cache(StackCache<S>& cache, Arena<S>& a, const ModelConfig& c, const BlockPlan& plan,
                 std::size_t n_threads, bool training) {
  cache.plan = plan;
  const bool alibi = c.positions.type == PositionsType::kAlibi;
  if (alibi || c.positions.type == PositionsType::kRelativeBias) {
    const std::size_t heads = c.attention.copies * c.attention.heads,
                      distances = 2 * plan.tokens - 1;
    cache.bias = a.take(heads, distances);
    if (training) cache.dbias = a.take(heads, distances);
    if (alibi && cache.bias.data != nullptr) fill_alibi(cache.bias, c.attention.heads, plan.tokens);
  }
  if (c.positions.type == PositionsType::kRotary) {
    cache.rotary = a.take(plan.tokens, *c.attention.key_size);
    if (cache.rotary.data != nullptr) fill_rotary(cache.rotary);
  }
  cache.layers.resize(c.layers);
  for (BlockCache<S>& layer : cache.layers) layer = block_cache(a, c, plan, training);
  if (*c.norm.final_norm) {
    cache.final_norm = norm_cache(a, c, plan.rows());
    cache.final_out = a.take(plan.rows(), c.width);
  }
  cache.scratch = block_scratch(a, c, plan, n_threads, training);
  if (training) cache.d = {a.take(plan.rows(), c.width), a.take(plan.rows(), c.width)};
}

// What layer `layer` reads: the output of the one before, or the stack's input.
template <class S>
View<const S, 2> layer_input(const ModelConfig& c, const StackCache<S>& cache,
                             View<const S, 2> input, std::size_t layer) {
  if (layer == 0) return input;
  const BlockCache<S>& below = cache.layers[layer - 1];
  return c.ffn.width > 0      ? below.ffn_branch.out
         : cache.plan.decoder ? below.cross_branch.out
                              : below.branch1.out;
}

// body(entry, its bucket, head of all copies) for every entry of the rows of biases; nothing
// without a table (buckets, c h).
template <class S, class Body>
void for_each_distance(const BlockPlan& plan, View<S, 2> table, const Body& body) {
  for (std::size_t e = 0; !table.empty() && e < 2 * plan.tokens - 1; ++e) {
    const std::size_t bucket = relative_bucket(distance_of(e, plan.tokens), plan.attention.causal);
    for (std::size_t g = 0; g < table.dims[1]; ++g) body(e, bucket, g);
  }
}

// Returns the stack's output (n,C), which lies in the cache. With `first` the layers below it are
// left as an earlier call of the same input and memory made them.
template <class S>
View<const S, 2> stack_forward(const ModelConfig& c, const StackCache<S>& cache,
                               View<const S, 2> input, View<const S, 2> memory,
                               const StackParams<S>& p, std::size_t first = 0) {
  const BlockPlan& plan = cache.plan;
  for_each_distance(plan, p.distance_table, [&](std::size_t e, std::size_t bucket, std::size_t g) {
    cache.bias(g, e) = p.distance_table(bucket, g);
  });
  const AttentionContext<S> context{memory, cache.bias, cache.rotary};
  View<const S, 2> x = layer_input(c, cache, input, first);
  for (std::size_t layer = first; layer < c.layers; ++layer)
    x = block_forward(c, plan, cache.layers[layer], cache.scratch, x, context, p.layer(layer));
  if (!*c.norm.final_norm) return x;
  norm_forward(c, cache.final_out, cache.final_norm, x, p.final_norm);
  return cache.final_out;
}

// cache.d.now holds the gradient by the stack's output, and afterwards that by its input; dp and
// dmemory accumulate.
template <class S>
void stack_backward(const ModelConfig& c, StackCache<S>& cache, const StackParams<S>& dp,
                    View<S, 2> dmemory, View<const S, 2> input, View<const S, 2> memory,
                    const StackParams<S>& p) {
  const BlockPlan& plan = cache.plan;
  if (*c.norm.final_norm) {
    norm_backward(c, cache.d.next, dp.final_norm, cache.scratch.row_sums,
                  View<const S, 2>(cache.d.now), layer_input(c, cache, input, c.layers),
                  cache.final_norm, p.final_norm);
    cache.d.swap();
  }
  if (!cache.dbias.empty()) std::fill_n(cache.dbias.data, cache.dbias.size(), S{});
  const AttentionContext<S> context{memory, cache.bias, cache.rotary};
  const AttentionContextGrads<S> dcontext{dmemory, cache.dbias};
  for (std::size_t layer = c.layers; layer-- > 0;)
    block_backward(c, plan, cache.d, dp.layer(layer), dcontext, layer_input(c, cache, input, layer),
                   context, cache.layers[layer], cache.scratch, p.layer(layer));
  for_each_distance(plan, p.distance_table, [&](std::size_t e, std::size_t bucket, std::size_t g) {
    dp.distance_table(bucket, g) += cache.dbias(g, e);
  });
}

}  // namespace headroom
