// The fused attention layer against its parts in double, and its promise about threads.
#include "kernels/attention_layer.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/arena.h"
#include "kernels/fused.h"
#include "reference/attention_softmax.h"
#include "reference/linear.h"

namespace headroom::attention_layer_test {

using kernels::AttentionLayerShape;
using kernels::AttentionWeights;

std::size_t heads_of(const AttentionLayerShape& s) { return s.heads.copies * s.heads.heads; }

// All that goes in and comes out of one layer; gradients of parameters start at 1, for they
// accumulate.
template <class S>
struct Layer {
  Arena<S> memory{1 << 22};
  View<S, 2> x, dy, y, dx;
  AttentionWeights<S> w, dw;

  Layer(const AttentionLayerShape& s, bool bias) {
    const std::size_t rows = s.heads.batch * s.heads.queries,
                      sums = heads_of(s) * s.heads.value_size,
                      projected = 2 * heads_of(s) * s.heads.key_size + sums;
    const auto weights = [&] {
      return AttentionWeights<S>{memory.take(projected, s.width),
                                 memory.take(bias ? 1 : 0, projected), memory.take(s.width, sums),
                                 memory.take(bias ? s.heads.copies : 0, s.width)};
    };
    for (View<S, 2>* v : {&x, &dy, &y, &dx}) *v = memory.take(rows, s.width);
    w = weights();
    dw = weights();
    std::uint64_t drawn = 0;
    for (const View<S, 2>& v : {x, dy, w.qkv, w.qkv_bias, w.output, w.output_bias})
      fill_normal(v, drawn++);
    for (const View<S, 2>& v : {dw.qkv, dw.qkv_bias, dw.output, dw.output_bias})
      std::fill_n(v.data, v.size(), S{1});
  }
  AttentionWeights<const S> weights() const { return {w.qkv, w.qkv_bias, w.output, w.output_bias}; }
  std::vector<View<S, 2>> results() const {
    return {y, dx, dw.qkv, dw.qkv_bias, dw.output, dw.output_bias};
  }
};

void run_fused(const Layer<float>& l, const AttentionLayerShape& s) {
  const std::size_t worker = kernels::fused_attention_scratch(s),
                    partials = kernels::fused_attention_partials(s),
                    maps_size = kernels::fused_attention_maps(s),
                    n = static_cast<std::size_t>(threads());
  Arena<float> scratch(n * worker + partials + maps_size + 64);
  const View<float, 2> workers = scratch.take(n, worker);
  const View<float, 1> maps = scratch.take(maps_size);
  kernels::fused_attention_forward(l.y, l.x, l.weights(), s, maps, workers);
  kernels::fused_attention_backward(l.dx, l.dw, l.dy, l.x, l.weights(), s, maps,
                                    scratch.take(partials), workers);
}

void run_parts(const Layer<double>& l, const AttentionLayerShape& s) {
  using V = View<const double, 2>;
  const AttentionShape& h = s.heads;
  const std::size_t rows = h.batch * h.queries, keys = heads_of(s) * h.key_size,
                    sums = heads_of(s) * h.value_size;
  Arena<double> memory(1 << 22);
  const View<double, 2> qkv = memory.take(rows, 2 * keys + sums),
                        dqkv = memory.take(rows, 2 * keys + sums), z = memory.take(rows, sums),
                        dz = memory.take(rows, sums), scratch = memory.take(1, 2 * h.keys);
  const View<double, 4> stats = memory.take(h.batch, heads_of(s), 2, h.queries);
  const AttentionWeights<const double> w = l.weights();
  const auto part = [&](View<double, 2> of, std::size_t first, std::size_t count) {
    return Matrix<double>(of).col_range(first, count);
  };
  const Matrix<const double> q = part(qkv, 0, keys), k = part(qkv, keys, keys),
                             v = part(qkv, 2 * keys, sums);
  reference::linear_forward<double>(qkv, V(l.x), w.qkv, w.qkv_bias, 1.0);
  reference::attention_forward<double>(z, stats, q, k, v, h, scratch);
  reference::linear_forward<double>(l.y, V(z), w.output, w.output_bias, s.output_scale);
  reference::linear_backward_params<double>(l.dw.output, l.dw.output_bias, V(l.dy), V(z),
                                            s.output_scale);
  reference::linear_backward_input<double>(dz, V(l.dy), w.output, s.output_scale);
  reference::attention_backward<double>(part(dqkv, 0, keys), part(dqkv, keys, keys),
                                        part(dqkv, 2 * keys, sums), V(dz), stats, q, k, v, h,
                                        scratch);
  reference::linear_backward_params<double>(l.dw.qkv, l.dw.qkv_bias, V(dqkv), V(l.x), 1.0);
  reference::linear_backward_input<double>(l.dx, V(dqkv), w.qkv, 1.0);
}

AttentionLayerShape shape(std::size_t batch, std::size_t tokens, std::size_t copies,
                          std::size_t heads, std::size_t key_size, std::size_t value_size,
                          bool causal) {
  return {{.batch = batch,
           .queries = tokens,
           .keys = tokens,
           .copies = copies,
           .score_heads = heads,
           .heads = heads,
           .value_heads = heads,
           .key_size = key_size,
           .value_size = value_size,
           .scale = 0.1,
           .causal = causal},
          5,
          0.5};
}

TEST(FusedAttention, FollowsItsParts) {
  for (const bool bias : {false, true})
    for (const bool causal : {false, true})
      // one tile; blocks of heads that cut a copy in two; heads of rank 1, and wider than a block;
      // groups of several tiles, the last one ragged; sequences longer than a tile has rows
      for (const AttentionLayerShape& s :
           {shape(1, 3, 2, 2, 3, 4, causal), shape(3, 5, 3, 7, 8, 9, causal),
            shape(2, 16, 2, 150, 1, 1, causal), shape(2, 4, 3, 1, 130, 2, causal),
            shape(150, 16, 2, 2, 2, 3, causal), shape(3, 130, 1, 2, 3, 2, causal)}) {
        SCOPED_TRACE(testing::Message() << s.heads.batch << " x " << s.heads.queries << ", "
                                        << s.heads.copies << " x " << s.heads.heads << " heads"
                                        << (causal ? ", causal" : "") << (bias ? ", biased" : ""));
        const Layer<float> fast(s, bias);
        const Layer<double> slow(s, bias);
        run_fused(fast, s);
        run_parts(slow, s);
        expect_near(fast.results(), slow.results());
      }
}

// Keys and values as wide as the model (5) or wider: one map for queries and keys, one for values
// and output.
TEST(FusedAttention, MergesTheMapsOfWideHeads) {
  for (const bool bias : {false, true})
    for (const bool causal : {false, true})
      for (const AttentionLayerShape& s :
           {shape(1, 3, 2, 2, 5, 5, causal), shape(3, 5, 3, 7, 8, 9, causal),
            shape(2, 16, 2, 20, 5, 6, causal), shape(150, 16, 2, 2, 6, 5, causal)}) {
        SCOPED_TRACE(testing::Message() << s.heads.batch << " x " << s.heads.queries << ", "
                                        << s.heads.copies << " x " << s.heads.heads << " heads"
                                        << (causal ? ", causal" : "") << (bias ? ", biased" : ""));
        ASSERT_GT(kernels::fused_attention_maps(s), 0u);
        const Layer<float> fast(s, bias);
        const Layer<double> slow(s, bias);
        run_fused(fast, s);
        run_parts(slow, s);
        expect_near(fast.results(), slow.results());
      }
  EXPECT_EQ(kernels::fused_attention_maps(shape(1, 3, 2, 2, 4, 5, false)), 0u);
}

// 16 groups of sequences backward, 25 tiles forward: more than threads everywhere.
TEST(FusedAttention, GivesTheSameBitsWithAnyNumberOfThreads) {
  for (const AttentionLayerShape& s :
       {shape(200, 16, 4, 2, 20, 3, false), shape(200, 16, 4, 2, 6, 5, false)})
    expect_same_bits_with_any_threads([&] {
      const Layer<float> layer(s, true);
      run_fused(layer, s);
      return copies(layer.results());
    });
}

}  // namespace headroom::attention_layer_test
