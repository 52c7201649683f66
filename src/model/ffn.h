// The feed-forward layer: y = act(x W1^T + b1) W2^T + b2. With swiglu W1 has the gate's rows before
// its own.
#pragma once

#include <type_traits>

#include "core/arena.h"
#include "model/binder.h"
#include "model/model_config.h"
#include "model/ops.h"

namespace headroom {

template <class S>
struct FfnParams {
  View<S, 2> up;         // (F, C), swiglu: (2F, C)
  View<S, 2> up_bias;    // (1, F), or (0, F) without bias; swiglu: 2F
  View<S, 2> down;       // (C, F)
  View<S, 2> down_bias;  // (1, C), or (0, C)
};

template <class S>
struct FfnCache {
  View<S, 2> hidden;  // (n, F) before the activation, swiglu: (n, 2F); fused: where it pays to keep
  View<S, 2> activated;  // (n, F); fused: empty
};

inline kernels::FfnShape ffn_shape(const ModelConfig& c, std::size_t rows) {
  return {rows, c.width, c.ffn.width, c.ffn.activation};
}

// Whether the layer runs as one kernel. In double and complex it always runs in parts, which are
// the fused kernel's twin.
template <class S>
bool runs_fused(const ModelConfig& c, std::size_t rows) {
  return std::is_same_v<S, float> && kernels::fused_ffn_pays(ffn_shape(c, rows));
}

// A bias as the one-row matrix the linear kernels take; no rows without bias.
template <class S>
View<S, 2> bias_row(Binder<S>& b, bool present, const std::string& name, std::size_t size,
                    InitRule init) {
  if (!present) return {nullptr, {0, size}};
  return b.template tensor<1>(name, {size}, init, false)
      .reshape(std::array<std::size_t, 2>{1, size});
}

// Rows of the map before the activation.
inline std::size_t ffn_hidden(const ModelConfig& c) {
  return inputs_a_unit(c.ffn.activation) * c.ffn.width;
}

struct FfnInit {
  InitRule up, up_bias, down, down_bias;
};

template <class S>
FfnParams<S> ffn_params(Binder<S>& b, const ModelConfig& c, const std::string& name,
                        const FfnInit& init) {
  FfnParams<S> p;
  const std::array<std::size_t, 2> up{c.ffn.width, c.width};
  const bool gated = c.ffn.activation == Activation::kSwiglu;
  // The gate lies before the other map, weights and biases alike: together they are one.
  if (gated) p.up = b.template tensor<2>(name + ".gate.weight", up, init.up, true);
  const View<S, 2> own = b.template tensor<2>(name + ".up.weight", up, init.up, true);
  if (!gated) p.up = own;
  p.up.dims[0] = ffn_hidden(c);
  if (gated) p.up_bias = bias_row(b, c.bias, name + ".gate.bias", c.ffn.width, init.up_bias);
  const View<S, 2> own_bias = bias_row(b, c.bias, name + ".up.bias", c.ffn.width, init.up_bias);
  if (!gated) p.up_bias = own_bias;
  p.up_bias.dims[1] = ffn_hidden(c);
  p.down = b.template tensor<2>(name + ".down.weight", {c.width, c.ffn.width}, init.down, true);
  p.down_bias = bias_row(b, c.bias, name + ".down.bias", c.width, init.down_bias);
  return p;
}

template <class S>
FfnCache<S> ffn_cache(Arena<S>& a, const ModelConfig& c, std::size_t rows, bool training) {
  if (runs_fused<S>(c, rows))
    return {training && kernels::keeping_hidden_pays(ffn_shape(c, rows))
                ? a.take(rows, ffn_hidden(c))
                : View<S, 2>(),
            View<S, 2>()};
  return {a.take(rows, ffn_hidden(c)), a.take(rows, c.ffn.width)};
}

// What the layers of a stack share.
template <class S>
struct FfnScratch {
  View<S, 2> dhidden;     // as hidden
  View<S, 2> dactivated;  // (n, F); swiglu alone has it apart from dhidden
  kernels::FfnMemory fused;
};

template <class S>
FfnScratch<S> ffn_scratch(Arena<S>& a, const ModelConfig& c, std::size_t rows,
                          std::size_t n_threads, bool training) {
  FfnScratch<S> s;
  if constexpr (std::is_same_v<S, float>) {
    if (runs_fused<S>(c, rows)) {
      const kernels::FfnShape shape = ffn_shape(c, rows);
      s.fused.workers = a.take(n_threads, kernels::fused_ffn_scratch(shape));
      if (training) s.fused.partials = a.take(kernels::fused_ffn_partials(shape));
      s.fused.layouts = a.take(kernels::fused_ffn_layouts(shape));
      return s;
    }
  }
  if (training) {
    s.dhidden = a.take(rows, ffn_hidden(c));
    s.dactivated = inputs_a_unit(c.ffn.activation) > 1 ? a.take(rows, c.ffn.width) : s.dhidden;
  }
  return s;
}

template <class S>
void ffn_forward(const ModelConfig& c, View<S, 2> y, const FfnCache<S>& cache,
                 const FfnScratch<S>& scratch, View<const S, 2> x, const FfnParams<S>& p) {
  if constexpr (std::is_same_v<S, float>) {
    if (runs_fused<S>(c, x.dims[0]))
      return ops::fused_ffn_forward(y, cache.hidden, x, {p.up, p.up_bias, p.down, p.down_bias},
                                    c.ffn.activation, scratch.fused);
  }
  ops::linear_forward<S>(cache.hidden, x, p.up, p.up_bias, 1.0);
  ops::activation_forward<S>(cache.activated, View<const S, 2>(cache.hidden), c.ffn.activation);
  ops::linear_forward<S>(y, View<const S, 2>(cache.activated), p.down, p.down_bias, 1.0);
}

// dx is written, dp accumulates.
template <class S>
void ffn_backward(const ModelConfig& c, View<S, 2> dx, const FfnParams<S>& dp,
                  const FfnScratch<S>& scratch, View<const S, 2> dy, View<const S, 2> x,
                  const FfnCache<S>& cache, const FfnParams<S>& p) {
  if constexpr (std::is_same_v<S, float>) {
    if (runs_fused<S>(c, x.dims[0]))
      return ops::fused_ffn_backward(dx, {dp.up, dp.up_bias, dp.down, dp.down_bias}, dy, x,
                                     cache.hidden, {p.up, p.up_bias, p.down, p.down_bias},
                                     c.ffn.activation, scratch.fused);
  }
  const View<const S, 2> activated = cache.activated, dactivated = scratch.dactivated,
                         dhidden = scratch.dhidden;
  ops::linear_backward_params<S>(dp.down, dp.down_bias, dy, activated, 1.0);
  ops::linear_backward_input<S>(scratch.dactivated, dy, p.down, 1.0);
  ops::activation_backward<S>(scratch.dhidden, dactivated, View<const S, 2>(cache.hidden),
                              c.ffn.activation);
  ops::linear_backward_params<S>(dp.up, dp.up_bias, dhidden, x, 1.0);
  ops::linear_backward_input<S>(dx, dhidden, p.up, 1.0);
}

}  // namespace headroom
