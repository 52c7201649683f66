// One attention layer: c copies of H heads, projections included.
//   q = x Wq^T + bq, k, v likewise; z_g = weights(scale q_g k_g^T) v_g; y = w (z Wo^T + sum of the
//   copies' bo)
// with w = 1/c where the copies are averaged. (Vaswani et al. 2017; copies: Amsel, Yehudai, Bruna
// 2025; the heads' scores and weights mixed: Shazeer et al. 2020; shared keys and values: Shazeer
// 2019, Ainslie et al. 2023.) In cross-attention keys and values come from `memory` instead of x. A
// full score map has the key's input itself for keys, a full value map adds the z_g without Wo.
#pragma once

#include <cmath>
#include <type_traits>

#include "core/arena.h"
#include "model/binder.h"
#include "model/model_config.h"
#include "model/ops.h"

namespace headroom {

// Where in the model an attention layer stands.
struct AttentionSite {
  bool cross = false;  // keys and values from the memory
  bool causal = false;
  bool distances = false;  // rotary positions and biases by distance apply
  bool inspected = false;  // what it computes is looked at: not as one kernel
};

struct AttentionSizes {
  AttentionSite site;
  std::size_t queries, keys, values;  // rows of the three maps: c h_k K; over the group, c h_k K (0
                                      // with a full score map) and c h_v V
  std::size_t sums;                   // c h_v V: columns of z
  AttentionShape shape;
  double output_scale;
  bool plain;  // softmax heads of their own: the fastest kernel
  std::size_t projected() const { return queries + keys + values; }
};
// config must be resolved; batch, queries and keys are those of the step.
AttentionSizes attention_sizes(const ModelConfig& config, AttentionSite site, std::size_t batch,
                               std::size_t queries, std::size_t keys);

inline bool learns_scale(const ModelConfig& c) {
  const ScaleRule* rule = std::get_if<ScaleRule>(&c.attention.scale);
  return rule != nullptr && *rule == ScaleRule::kLearned;
}

// Whether the layer runs as one kernel. In double and complex it always runs in parts, which are
// the fused kernel's twin.
template <class S>
bool runs_fused(const ModelConfig& c, const AttentionSizes& n) {
  return std::is_same_v<S, float> && n.plain && !n.site.cross && !n.site.inspected &&
         !learns_scale(c) && c.attention.value_map == HeadMap::kFactored &&
         c.attention.qk_norm == QkNorm::kNone && c.positions.type != PositionsType::kRotary &&
         kernels::fused_attention_pays({n.shape, c.width, n.output_scale});
}

template <class S>
struct AttentionParams {
  View<S, 2> qkv;          // (projected, C): the rows of query, key and value, one after the other
  View<S, 2> qkv_bias;     // (1, projected), or (0, ...) without bias
  View<S, 1> scale;        // (c h_k), or empty
  View<S, 2> output;       // (C, sums), or empty with a full value map
  View<S, 2> output_bias;  // (c, C), or (0, C)
  AttentionMixers<S> mixers;  // its biases by distance belong to the stack
};

// Empty but for its sizes where the layer runs as one kernel.
template <class S>
struct AttentionCache {
  AttentionSizes sizes;
  View<S, 2> qkv;                   // (n, projected) in self-, (n, queries) in cross-attention
  View<S, 2> kv;                    // (m, keys + values) in cross-attention, else empty
  View<S, 2> q_scaled;              // (n, queries) with a learned scale, else empty
  View<S, 2> q_inverse, k_inverse;  // (n, heads of q), (m, heads of k): 1 / length before qk_norm
  View<S, 2> z;                     // (n, sums) the heads' outputs
  View<S, 4> stats;  // (B,G,2,T) largest score and 1 / sum of exponentials of each row
};

// What the layers of a stack share.
template <class S>
struct AttentionScratch {
  View<S, 2> dqkv, dkv;  // as qkv and kv
  View<S, 2> dkey;       // (m, C) the shared key's gradient
  View<S, 2> dz;         // as z
  View<S, 1> partials;   // the sequences' shares of the mixers' gradients; of all, as one kernel
  View<S, 1> maps;       // as one kernel: what it makes of the weights
  View<S, 2> workers;    // (threads, floats of one worker)
};

// What attention works with that its stack holds.
template <class S>
struct AttentionContext {
  View<const S, 2> memory;  // (m, C), or empty in self-attention
  View<const S, 2> bias;    // (c h, Tq + Tk - 1) by distance, or empty
  View<const S, 2> rotary;  // (T, K) cosines and sines, or empty
};
// And where its gradients go; both accumulate.
template <class S>
struct AttentionContextGrads {
  View<S, 2> memory, bias;
};

// What the attention operation itself reads.
template <class S>
struct AttentionOperands {
  Matrix<const S> q;  // (B*Tq, queries), scaled where the scale is learned
  Matrix<const S> k;  // (B*Tk, keys); with a full score map the key's input (B*Tk, C)
  Matrix<const S> v;  // (B*Tk, values)
  AttentionMixers<const S> mixers;
};

// How the maps start.
struct AttentionInit {
  InitRule query, key, value, output;
};

template <class S>
AttentionParams<S> attention_params(Binder<S>& b, const ModelConfig& c, const std::string& name,
                                    const AttentionInit& init) {
  const AttentionSizes n = attention_sizes(c, {}, 1, 1, 1);
  const AttentionShape& s = n.shape;
  const std::size_t width = c.width;
  AttentionParams<S> p;
  // The weights lie next to each other, and so do the biases: together they are one map.
  p.qkv = b.template tensor<2>(name + ".query.weight", {n.queries, width}, init.query, true);
  if (n.keys > 0) b.template tensor<2>(name + ".key.weight", {n.keys, width}, init.key, true);
  b.template tensor<2>(name + ".value.weight", {n.values, width}, init.value, true);
  p.qkv.dims = {n.projected(), width};
  p.qkv_bias.dims = {c.bias ? std::size_t{1} : 0, n.projected()};
  if (c.bias) {
    p.qkv_bias.data = b.template tensor<1>(name + ".query.bias", {n.queries}, {}, false).data;
    if (n.keys > 0) b.template tensor<1>(name + ".key.bias", {n.keys}, {}, false);
    b.template tensor<1>(name + ".value.bias", {n.values}, {}, false);
  }
  if (learns_scale(c)) {
    const double start = 1 / std::sqrt(static_cast<double>(s.key_size));
    p.scale = b.template tensor<2>(name + ".scale.weight", {s.copies, s.score_heads},
                                   {InitRule::Kind::kConstant, start}, false)
                  .template reshape<1>(std::array<std::size_t, 1>{s.copies * s.score_heads});
  }
  if (c.attention.value_map == HeadMap::kFactored)
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
  p.mixers.scores = mixer(c.attention.mix_scores, ".mix_scores.weight", s.heads, s.score_heads);
  p.mixers.weights = mixer(c.attention.mix_weights, ".mix_weights.weight", s.value_heads, s.heads);
  return p;
}

template <class S>
AttentionCache<S> attention_cache(Arena<S>& a, const ModelConfig& c, AttentionSite site,
                                  std::size_t batch, std::size_t queries, std::size_t keys) {
  AttentionCache<S> cache;
  cache.sizes = attention_sizes(c, site, batch, queries, keys);
  const AttentionSizes& n = cache.sizes;
  if (runs_fused<S>(c, n)) return cache;
  cache.qkv = a.take(batch * queries, site.cross ? n.queries : n.projected());
  if (site.cross) cache.kv = a.take(batch * keys, n.keys + n.values);
  if (learns_scale(c)) cache.q_scaled = a.take(batch * queries, n.queries);
  if (c.attention.qk_norm != QkNorm::kNone) {
    cache.q_inverse = a.take(batch * queries, n.queries / n.shape.key_size);
    cache.k_inverse = a.take(batch * keys, n.keys / n.shape.key_size);
  }
  cache.z = a.take(batch * queries, n.sums);
  cache.stats = a.take(batch, n.shape.copies * n.shape.heads, 2, queries);
  return cache;
}

template <class S>
AttentionScratch<S> attention_scratch(Arena<S>& a, const ModelConfig& c, AttentionSite site,
                                      std::size_t batch, std::size_t queries, std::size_t keys,
                                      std::size_t n_threads, bool training) {
  const AttentionSizes n = attention_sizes(c, site, batch, queries, keys);
  AttentionScratch<S> s;
  if (runs_fused<S>(c, n)) {
    const kernels::AttentionLayerShape shape{n.shape, c.width, n.output_scale};
    s.workers = a.take(n_threads, (kernels::fused_attention_scratch(shape) + 15) / 16 * 16);
    s.maps = a.take(kernels::fused_attention_maps(shape));
    if (training) s.partials = a.take(kernels::fused_attention_partials(shape));
    return s;
  }
  if (training) {
    s.dqkv = a.take(batch * queries, site.cross ? n.queries : n.projected());
    if (site.cross) s.dkv = a.take(batch * keys, n.keys + n.values);
    if (n.shape.shared_key) s.dkey = a.take(batch * keys, c.width);
    s.dz = a.take(batch * queries, n.sums);
    if (!n.plain) s.partials = a.take(ops::mixed_attention_partials<S>(n.shape));
  }
  const std::size_t worker =
      n.plain ? ops::attention_scratch<S>(n.shape) : ops::mixed_attention_scratch<S>(n.shape);
  s.workers = a.take(n_threads, (worker + 15) / 16 * 16);
  return s;
}

// Queries, keys and values, or their gradients, as column ranges of what is projected. k is empty
// with a full score map.
template <class S>
struct Projections {
  Matrix<S> q, k, v;
  Projections(const AttentionSizes& n, View<S, 2> qkv, View<S, 2> kv) {
    const Matrix<S> first = qkv;
    q = first.col_range(0, n.queries);
    if (n.site.cross) {
      const Matrix<S> second = kv;
      k = second.col_range(0, n.keys);
      v = second.col_range(n.keys, n.values);
    } else {
      k = first.col_range(n.queries, n.keys);
      v = first.col_range(n.queries + n.keys, n.values);
    }
  }
};

// What keys and values are projected from.
template <class S>
View<const S, 2> attention_source(const AttentionSizes& n, View<const S, 2> x,
                                  const AttentionContext<S>& context) {
  return n.site.cross ? context.memory : x;
}

// Of a cache whose projections, scaled queries included, are done; source (m, C).
template <class S>
AttentionOperands<S> attention_operands(const AttentionCache<S>& cache, View<const S, 2> source,
                                        const AttentionContext<S>& context,
                                        const AttentionParams<S>& p) {
  const AttentionSizes& n = cache.sizes;
  const Projections<S> m(n, cache.qkv, cache.kv);
  AttentionOperands<S> o{.q = m.q, .k = m.k, .v = m.v, .mixers = read_only(p.mixers)};
  if (!cache.q_scaled.empty()) o.q = View<const S, 2>(cache.q_scaled);
  if (n.shape.shared_key) o.k = source;
  if (n.site.distances) o.mixers.bias = context.bias;
  return o;
}

// The length that qk_norm gives a query or key.
inline double qk_length(const ModelConfig& c) {
  return c.attention.qk_norm == QkNorm::kL2 ? 1.0
                                            : std::sqrt(static_cast<double>(*c.attention.key_size));
}

// Columns first .. first + count - 1 of a bias of one row, or of none.
template <class S>
View<S, 2> bias_columns(View<S, 2> bias, std::size_t first, std::size_t count) {
  return {bias.data == nullptr ? nullptr : bias.data + first, {bias.dims[0], count}};
}

// y, x (B*T, C).
template <class S>
void attention_forward(const ModelConfig& c, View<S, 2> y, const AttentionCache<S>& cache,
                       const AttentionScratch<S>& scratch, View<const S, 2> x,
                       const AttentionContext<S>& context, const AttentionParams<S>& p) {
  const AttentionSizes& n = cache.sizes;
  if constexpr (std::is_same_v<S, float>) {
    if (runs_fused<S>(c, n))
      return ops::fused_attention_forward(y, x, {p.qkv, p.qkv_bias, p.output, p.output_bias},
                                          {n.shape, c.width, n.output_scale}, scratch.maps,
                                          scratch.workers);
  }
  const View<const S, 2> source = attention_source(n, x, context);
  if (n.site.cross) {
    const std::size_t rest = n.keys + n.values;
    ops::linear_forward<S>(cache.qkv, x, p.qkv.range(0, n.queries),
                           bias_columns(p.qkv_bias, 0, n.queries), 1.0);
    ops::linear_forward<S>(cache.kv, source, p.qkv.range(n.queries, rest),
                           bias_columns(p.qkv_bias, n.queries, rest), 1.0);
  } else {
    ops::linear_forward<S>(cache.qkv, x, p.qkv, p.qkv_bias, 1.0);
  }
  const Projections<S> m(n, cache.qkv, cache.kv);
  if (!cache.q_inverse.empty()) {
    ops::normalize_heads_forward<S>(m.q, cache.q_inverse, qk_length(c));
    ops::normalize_heads_forward<S>(m.k, cache.k_inverse, qk_length(c));
  }
  if (n.site.distances && !context.rotary.empty()) {
    ops::rotate_heads_forward<S>(m.q, context.rotary);
    ops::rotate_heads_forward<S>(m.k, context.rotary);
  }
  if (!cache.q_scaled.empty())
    ops::scale_heads_forward<S>(Matrix<S>(cache.q_scaled), Matrix<const S>(m.q), p.scale);
  const AttentionOperands<S> o = attention_operands(cache, source, context, p);
  const Matrix<S> z = cache.z;
  if (n.plain)
    ops::attention_forward<S>(z, cache.stats, o.q, o.k, o.v, n.shape, scratch.workers);
  else
    ops::mixed_attention_forward<S>(z, cache.stats, o.q, o.k, o.v, o.mixers, n.shape,
                                    scratch.workers);
  if (c.attention.value_map == HeadMap::kFull)
    ops::sum_heads_forward<S>(Matrix<S>(y), Matrix<const S>(z), p.output_bias, n.output_scale);
  else
    ops::linear_forward<S>(y, View<const S, 2>(cache.z), p.output, p.output_bias, n.output_scale);
}

// dx is written; dp and dcontext accumulate.
template <class S>
void attention_backward(const ModelConfig& c, View<S, 2> dx, const AttentionParams<S>& dp,
                        const AttentionContextGrads<S>& dcontext, View<const S, 2> dy,
                        View<const S, 2> x, const AttentionContext<S>& context,
                        const AttentionCache<S>& cache, const AttentionScratch<S>& scratch,
                        const AttentionParams<S>& p) {
  const AttentionSizes& n = cache.sizes;
  if constexpr (std::is_same_v<S, float>) {
    if (runs_fused<S>(c, n))
      return ops::fused_attention_backward(dx, {dp.qkv, dp.qkv_bias, dp.output, dp.output_bias}, dy,
                                           x, {p.qkv, p.qkv_bias, p.output, p.output_bias},
                                           {n.shape, c.width, n.output_scale}, scratch.maps,
                                           scratch.partials, scratch.workers);
  }
  const View<const S, 2> source = attention_source(n, x, context);
  if (c.attention.value_map == HeadMap::kFull) {
    ops::sum_heads_backward<S>(Matrix<S>(scratch.dz), dp.output_bias, Matrix<const S>(dy),
                               n.output_scale);
  } else {
    ops::linear_backward_params<S>(dp.output, dp.output_bias, dy, View<const S, 2>(cache.z),
                                   n.output_scale);
    ops::linear_backward_input<S>(scratch.dz, dy, p.output, n.output_scale);
  }
  const Projections<S> m(n, cache.qkv, cache.kv), d(n, scratch.dqkv, scratch.dkv);
  const AttentionOperands<S> o = attention_operands(cache, source, context, p);
  const Matrix<const S> dz = View<const S, 2>(scratch.dz);
  const Matrix<S> dk = n.shape.shared_key ? Matrix<S>(scratch.dkey) : d.k;
  if (n.plain) {
    ops::attention_backward<S>(d.q, dk, d.v, dz, cache.stats, o.q, o.k, o.v, n.shape,
                               scratch.workers);
  } else {
    AttentionMixers<S> dmixers = dp.mixers;
    if (n.site.distances) dmixers.bias = dcontext.bias;
    ops::mixed_attention_backward<S>(d.q, dk, d.v, dmixers, dz, cache.stats, o.q, o.k, o.v,
                                     o.mixers, n.shape, scratch.partials, scratch.workers);
  }
  if (!cache.q_scaled.empty())
    ops::scale_heads_backward<S>(d.q, dp.scale, Matrix<const S>(m.q), p.scale);
  // qk_norm came before the rotation, but its gradient is the same in turned coordinates.
  if (!cache.q_inverse.empty()) {
    ops::normalize_heads_backward<S>(d.q, Matrix<const S>(m.q), cache.q_inverse, qk_length(c));
    ops::normalize_heads_backward<S>(d.k, Matrix<const S>(m.k), cache.k_inverse, qk_length(c));
  }
  if (n.site.distances && !context.rotary.empty()) {
    ops::rotate_heads_backward<S>(d.q, context.rotary);
    ops::rotate_heads_backward<S>(d.k, context.rotary);
  }
  const View<const S, 2> dqkv = scratch.dqkv, dkv = scratch.dkv;
  if (n.site.cross) {
    const std::size_t rest = n.keys + n.values;
    ops::linear_backward_params<S>(dp.qkv.range(0, n.queries),
                                   bias_columns(dp.qkv_bias, 0, n.queries), dqkv, x, 1.0);
    ops::linear_backward_params<S>(dp.qkv.range(n.queries, rest),
                                   bias_columns(dp.qkv_bias, n.queries, rest), dkv, source, 1.0);
    ops::linear_backward_input<S>(dx, dqkv, p.qkv.range(0, n.queries), 1.0);
    ops::linear_backward_input<S>(dcontext.memory, dkv, p.qkv.range(n.queries, rest), 1.0, 1.0);
  } else {
    ops::linear_backward_params<S>(dp.qkv, dp.qkv_bias, dqkv, x, 1.0);
    ops::linear_backward_input<S>(dx, dqkv, p.qkv, 1.0);
  }
  if (n.shape.shared_key) {
    const View<S, 2> to = n.site.cross ? dcontext.memory : dx;
    ops::add_forward<S>(to, View<const S, 2>(to), View<const S, 2>(scratch.dkey));
  }
}

}  // namespace headroom
