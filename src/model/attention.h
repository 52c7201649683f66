// One attention layer: c copies of H heads, projections included.
//   q = x Wq^T + bq, k, v likewise; z_g = weights(scale q_g k_g^T) v_g; y = w (z Wo^T + sum of the
//   copies' bo)
// with w = 1/c where the copies are averaged. (Vaswani et al. 2017; copies: Amsel, Yehudai, Bruna
// 2025; the heads' scores and weights mixed: Shazeer et al. 2020; shared keys and values: Shazeer
// 2019, Ainslie et al. 2023.)
#pragma once

#include <cmath>

#include "core/arena.h"
#include "model/binder.h"
#include "model/model_config.h"
#include "model/ops.h"

namespace headroom {

struct AttentionSizes {
  std::size_t queries, keys,
      values;        // rows of the three maps: c h_k K and, over the group, the same and c h_v V
  std::size_t sums;  // c h_v V: columns of z
  AttentionShape shape;
  double output_scale;
  bool plain;  // softmax heads of their own: the fastest kernel
  std::size_t projected() const { return queries + keys + values; }
};
// config must be resolved; batch and tokens are those of the step.
AttentionSizes attention_sizes(const ModelConfig& config, std::size_t batch, std::size_t tokens);

template <class S>
struct AttentionParams {
  View<S, 2> qkv;          // (projected, C): the rows of query, key and value, one after the other
  View<S, 2> qkv_bias;     // (1, projected), or (0, ...) without bias
  View<S, 2> output;       // (C, sums)
  View<S, 2> output_bias;  // (c, C), or (0, C)
  View<S, 3> mix_scores;   // (c, h, h_k), or empty
  View<S, 3> mix_weights;  // (c, h_v, h), or empty
};

template <class S>
struct AttentionCache {
  View<S, 2> qkv;    // (n, projected)
  View<S, 2> z;      // (n, sums) the heads' outputs
  View<S, 4> stats;  // (B,G,2,T) largest score and 1 / sum of exponentials of each row
};

// What backward needs once, shared by all layers.
template <class S>
struct AttentionScratch {
  View<S, 2> dqkv;      // as qkv
  View<S, 2> dz;        // as z
  View<S, 1> partials;  // the sequences' shares of the mixers' gradients
  View<S, 2> workers;   // (threads, floats of one worker)
};

// How the maps start: U(+-value) or N(0, value^2) for query, key and value.
struct AttentionInit {
  InitRule input, output;
};

template <class S>
AttentionParams<S> attention_params(Binder<S>& b, const ModelConfig& c, const std::string& name,
                                    const AttentionInit& init) {
  const AttentionSizes n = attention_sizes(c, 1, 1);
  const AttentionShape& s = n.shape;
  const std::size_t width = c.width;
  AttentionParams<S> p;
  // The three weights lie next to each other, and so do the biases: together they are one map.
  p.qkv = b.template tensor<2>(name + ".query.weight", {n.queries, width}, init.input, true);
  b.template tensor<2>(name + ".key.weight", {n.keys, width}, init.input, true);
  b.template tensor<2>(name + ".value.weight", {n.values, width}, init.input, true);
  p.qkv.dims = {n.projected(), width};
  p.qkv_bias.dims = {c.bias ? std::size_t{1} : 0, n.projected()};
  if (c.bias) {
    p.qkv_bias.data = b.template tensor<1>(name + ".query.bias", {n.queries}, {}, false).data;
    b.template tensor<1>(name + ".key.bias", {n.keys}, {}, false);
    b.template tensor<1>(name + ".value.bias", {n.values}, {}, false);
  }
  p.output = b.template tensor<2>(name + ".output.weight", {width, n.sums}, init.output, true);
  p.output_bias.dims = {0, width};
  if (c.bias)
    p.output_bias = b.template tensor<2>(name + ".output.bias", {s.copies, width}, {}, false);
  const auto mixer = [&](MixInit mix, const char* which, std::size_t to, std::size_t from) {
    if (mix == MixInit::kNone) return View<S, 3>{};
    const InitRule rule =
        mix == MixInit::kIdentity
            ? InitRule{InitRule::Kind::kIdentity, 1}
            : InitRule{InitRule::Kind::kNormal, 1 / std::sqrt(static_cast<double>(from))};
    return b.template tensor<3>(name + which, {s.copies, to, from}, rule, true);
  };
  p.mix_scores = mixer(c.attention.mix_scores, ".mix_scores.weight", s.heads, s.score_heads);
  p.mix_weights = mixer(c.attention.mix_weights, ".mix_weights.weight", s.value_heads, s.heads);
  return p;
}

template <class S>
AttentionCache<S> attention_cache(Arena<S>& a, const ModelConfig& c, std::size_t batch,
                                  std::size_t tokens) {
  const AttentionSizes n = attention_sizes(c, batch, tokens);
  AttentionCache<S> cache;
  cache.qkv = a.take(batch * tokens, n.projected());
  cache.z = a.take(batch * tokens, n.sums);
  cache.stats = a.take(batch, n.shape.copies * n.shape.heads, 2, tokens);
  return cache;
}

template <class S>
AttentionScratch<S> attention_scratch(Arena<S>& a, const ModelConfig& c, std::size_t batch,
                                      std::size_t tokens, std::size_t n_threads, bool training) {
  const AttentionSizes n = attention_sizes(c, batch, tokens);
  AttentionScratch<S> s;
  if (training) {
    s.dqkv = a.take(batch * tokens, n.projected());
    s.dz = a.take(batch * tokens, n.sums);
    if (!n.plain) s.partials = a.take(ops::mixed_attention_partials<S>(n.shape));
  }
  const std::size_t worker =
      n.plain ? ops::attention_scratch<S>(n.shape) : ops::mixed_attention_scratch<S>(n.shape);
  s.workers = a.take(n_threads, (worker + 15) / 16 * 16);
  return s;
}

// y, x (B*T, C).
template <class S>
void attention_forward(const ModelConfig& c, View<S, 2> y, const AttentionCache<S>& cache,
                       const AttentionScratch<S>& scratch, View<const S, 2> x,
                       const AttentionParams<S>& p) {
  const AttentionSizes n = attention_sizes(c, cache.stats.dims[0], cache.stats.dims[3]);
  ops::linear_forward<S>(cache.qkv, x, p.qkv, p.qkv_bias, 1.0);
  const Matrix<const S> qkv = View<const S, 2>(cache.qkv);
  const Matrix<const S> q = qkv.col_range(0, n.queries), k = qkv.col_range(n.queries, n.keys),
                        v = qkv.col_range(n.queries + n.keys, n.values);
  const Matrix<S> z = cache.z;
  if (n.plain)
    ops::attention_forward<S>(z, cache.stats, q, k, v, n.shape, scratch.workers);
  else
    ops::mixed_attention_forward<S>(z, cache.stats, q, k, v, p.mix_scores, p.mix_weights, n.shape,
                                    scratch.workers);
  ops::linear_forward<S>(y, View<const S, 2>(cache.z), p.output, p.output_bias, n.output_scale);
}

// dx is written, dp accumulates.
template <class S>
void attention_backward(const ModelConfig& c, View<S, 2> dx, const AttentionParams<S>& dp,
                        View<const S, 2> dy, View<const S, 2> x, const AttentionCache<S>& cache,
                        const AttentionScratch<S>& scratch, const AttentionParams<S>& p) {
  const AttentionSizes n = attention_sizes(c, cache.stats.dims[0], cache.stats.dims[3]);
  ops::linear_backward_params<S>(dp.output, dp.output_bias, dy, View<const S, 2>(cache.z),
                                 n.output_scale);
  ops::linear_backward_input<S>(scratch.dz, dy, p.output, n.output_scale);
  const Matrix<const S> qkv = View<const S, 2>(cache.qkv);
  const Matrix<const S> q = qkv.col_range(0, n.queries), k = qkv.col_range(n.queries, n.keys),
                        v = qkv.col_range(n.queries + n.keys, n.values),
                        dz = View<const S, 2>(scratch.dz);
  const Matrix<S> dqkv = scratch.dqkv;
  const Matrix<S> dq = dqkv.col_range(0, n.queries), dk = dqkv.col_range(n.queries, n.keys),
                  dv = dqkv.col_range(n.queries + n.keys, n.values);
  if (n.plain)
    ops::attention_backward<S>(dq, dk, dv, dz, cache.stats, q, k, v, n.shape, scratch.workers);
  else
    ops::mixed_attention_backward<S>(dq, dk, dv, dp.mix_scores, dp.mix_weights, dz, cache.stats, q,
                                     k, v, p.mix_scores, p.mix_weights, n.shape, scratch.partials,
                                     scratch.workers);
  const View<const S, 2> dqkv_view = scratch.dqkv;
  ops::linear_backward_params<S>(dp.qkv, dp.qkv_bias, dqkv_view, x, 1.0);
  ops::linear_backward_input<S>(dx, dqkv_view, p.qkv, 1.0);
}

}  // namespace headroom
