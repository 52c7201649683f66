// One attention layer: c copies of H heads, projections included.
//   q = x Wq^T + bq, k, v likewise; z_g = softmax(scale q_g k_g^T) v_g; y = w (z Wo^T + sum of the
//   copies' bo)
// with w = 1/c where the copies are averaged. (Vaswani et al. 2017; copies: Amsel, Yehudai, Bruna
// 2025.)
#pragma once

#include <cmath>

#include "core/arena.h"
#include "model/binder.h"
#include "model/model_config.h"
#include "model/ops.h"

namespace headroom {

template <class S>
struct AttentionParams {
  View<S, 2> qkv;       // (c(2HK + HV), C): the rows of query, key and value, one after the other
  View<S, 2> qkv_bias;  // (1, c(2HK + HV)), or (0, ...) without bias
  View<S, 2> output;    // (C, cHV)
  View<S, 2> output_bias;  // (c, C), or (0, C)
};

template <class S>
struct AttentionCache {
  View<S, 2> qkv;    // (n, c(2HK + HV))
  View<S, 2> z;      // (n, cHV) the heads' outputs
  View<S, 4> stats;  // (B,G,2,T) largest score and 1 / sum of exponentials of each row
};

// What backward needs once, shared by all layers.
template <class S>
struct AttentionScratch {
  View<S, 2> dqkv;     // as qkv
  View<S, 2> dz;       // as z
  View<S, 2> workers;  // (threads, floats of one worker)
};

struct AttentionSizes {
  std::size_t queries, values;  // cHK, cHV: rows of the query (and key) and of the value map
  AttentionShape shape;
  double output_scale;
};
// config must be resolved; batch and tokens are those of the step.
AttentionSizes attention_sizes(const ModelConfig& config, std::size_t batch, std::size_t tokens);

template <class S>
AttentionParams<S> attention_params(Binder<S>& b, const ModelConfig& c, const std::string& name,
                                    double query_init, InitRule output_init) {
  const AttentionSizes n = attention_sizes(c, 1, 1);
  const std::size_t bias = c.bias ? 1 : 0, width = c.width, rows = 2 * n.queries + n.values;
  const InitRule in{c.init == Init::kTorch ? InitRule::Kind::kUniform : InitRule::Kind::kNormal,
                    query_init};
  AttentionParams<S> p;
  // The three weights lie next to each other, and so do the biases: together they are one map.
  p.qkv = b.template tensor<2>(name + ".query.weight", {n.queries, width}, in, true);
  b.template tensor<2>(name + ".key.weight", {n.queries, width}, in, true);
  b.template tensor<2>(name + ".value.weight", {n.values, width}, in, true);
  p.qkv.dims = {rows, width};
  p.qkv_bias.dims = {bias, rows};
  if (c.bias) {
    p.qkv_bias.data = b.template tensor<1>(name + ".query.bias", {n.queries}, {}, false).data;
    b.template tensor<1>(name + ".key.bias", {n.queries}, {}, false);
    b.template tensor<1>(name + ".value.bias", {n.values}, {}, false);
  }
  p.output = b.template tensor<2>(name + ".output.weight", {width, n.values}, output_init, true);
  p.output_bias.dims = {0, width};
  if (c.bias)
    p.output_bias =
        b.template tensor<2>(name + ".output.bias", {c.attention.copies, width}, {}, false);
  return p;
}

template <class S>
AttentionCache<S> attention_cache(Arena<S>& a, const ModelConfig& c, std::size_t batch,
                                  std::size_t tokens) {
  const AttentionSizes n = attention_sizes(c, batch, tokens);
  AttentionCache<S> cache;
  cache.qkv = a.take(batch * tokens, 2 * n.queries + n.values);
  cache.z = a.take(batch * tokens, n.values);
  cache.stats = a.take(batch, n.shape.heads, 2, tokens);
  return cache;
}

template <class S>
AttentionScratch<S> attention_scratch(Arena<S>& a, const ModelConfig& c, std::size_t batch,
                                      std::size_t tokens, std::size_t n_threads, bool training) {
  const AttentionSizes n = attention_sizes(c, batch, tokens);
  AttentionScratch<S> s;
  if (training) {
    s.dqkv = a.take(batch * tokens, 2 * n.queries + n.values);
    s.dz = a.take(batch * tokens, n.values);
  }
  s.workers = a.take(n_threads, (ops::attention_scratch<S>(n.shape) + 15) / 16 * 16);
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
  ops::attention_forward<S>(Matrix<S>(cache.z), cache.stats, qkv.col_range(0, n.queries),
                            qkv.col_range(n.queries, n.queries),
                            qkv.col_range(2 * n.queries, n.values), n.shape, scratch.workers);
  ops::linear_forward<S>(y, View<const S, 2>(cache.z), p.output, p.output_bias, n.output_scale);
}

// dx is written, dp accumulates.
template <class S>
void attention_backward(const ModelConfig& c, View<S, 2> dx, const AttentionParams<S>& dp,
                        View<const S, 2> dy, View<const S, 2> x, const AttentionCache<S>& cache,
                        const AttentionScratch<S>& scratch, const AttentionParams<S>& p) {
  const AttentionSizes n = attention_sizes(c, cache.stats.dims[0], cache.stats.dims[3]);
  const View<const S, 2> z = cache.z;
  ops::linear_backward_params<S>(dp.output, dp.output_bias, dy, z, n.output_scale);
  ops::linear_backward_input<S>(scratch.dz, dy, p.output, n.output_scale);
  const Matrix<const S> qkv = View<const S, 2>(cache.qkv);
  const Matrix<S> dqkv = scratch.dqkv;
  ops::attention_backward<S>(dqkv.col_range(0, n.queries), dqkv.col_range(n.queries, n.queries),
                             dqkv.col_range(2 * n.queries, n.values), View<const S, 2>(scratch.dz),
                             cache.stats, qkv.col_range(0, n.queries),
                             qkv.col_range(n.queries, n.queries),
                             qkv.col_range(2 * n.queries, n.values), n.shape, scratch.workers);
  const View<const S, 2> dqkv_view = scratch.dqkv;
  ops::linear_backward_params<S>(dp.qkv, dp.qkv_bias, dqkv_view, x, 1.0);
  ops::linear_backward_input<S>(dx, dqkv_view, p.qkv, 1.0);
}

}  // namespace headroom
