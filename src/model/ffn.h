// The feed-forward layer: y = act(x W1^T + b1) W2^T + b2.
#pragma once

#include "core/arena.h"
#include "model/binder.h"
#include "model/model_config.h"
#include "model/ops.h"

namespace headroom {

template <class S>
struct FfnParams {
  View<S, 2> up;         // (F, C)
  View<S, 2> up_bias;    // (1, F), or (0, F) without bias
  View<S, 2> down;       // (C, F)
  View<S, 2> down_bias;  // (1, C), or (0, C)
};

template <class S>
struct FfnCache {
  View<S, 2> hidden;     // (n, F) before the activation
  View<S, 2> activated;  // (n, F)
};

// A bias as the one-row matrix the linear kernels take; no rows without bias.
template <class S>
View<S, 2> bias_row(Binder<S>& b, bool present, const std::string& name, std::size_t size,
                    InitRule init) {
  if (!present) return {nullptr, {0, size}};
  return b.template tensor<1>(name, {size}, init, false)
      .reshape(std::array<std::size_t, 2>{1, size});
}

template <class S>
FfnParams<S> ffn_params(Binder<S>& b, const ModelConfig& c, const std::string& name,
                        InitRule up_init, InitRule up_bias_init, InitRule down_init,
                        InitRule down_bias_init) {
  FfnParams<S> p;
  p.up = b.template tensor<2>(name + ".up.weight", {c.ffn.width, c.width}, up_init, true);
  p.up_bias = bias_row(b, c.bias, name + ".up.bias", c.ffn.width, up_bias_init);
  p.down = b.template tensor<2>(name + ".down.weight", {c.width, c.ffn.width}, down_init, true);
  p.down_bias = bias_row(b, c.bias, name + ".down.bias", c.width, down_bias_init);
  return p;
}

template <class S>
FfnCache<S> ffn_cache(Arena<S>& a, const ModelConfig& c, std::size_t rows) {
  return {a.take(rows, c.ffn.width), a.take(rows, c.ffn.width)};
}

template <class S>
void ffn_forward(const ModelConfig& c, View<S, 2> y, const FfnCache<S>& cache, View<const S, 2> x,
                 const FfnParams<S>& p) {
  ops::linear_forward<S>(cache.hidden, x, p.up, p.up_bias, 1.0);
  switch (c.ffn.activation) {
    case Activation::kRelu:
      ops::relu_forward<S>(cache.activated, cache.hidden);
      break;
    case Activation::kGeluTanh:
      ops::gelu_tanh_forward<S>(cache.activated, cache.hidden);
      break;
  }
  ops::linear_forward<S>(y, View<const S, 2>(cache.activated), p.down, p.down_bias, 1.0);
}

// dx is written, dp accumulates; dhidden (n,F) is scratch.
template <class S>
void ffn_backward(const ModelConfig& c, View<S, 2> dx, const FfnParams<S>& dp, View<S, 2> dhidden,
                  View<const S, 2> dy, View<const S, 2> x, const FfnCache<S>& cache,
                  const FfnParams<S>& p) {
  const View<const S, 2> activated = cache.activated, dhidden_view = dhidden;
  ops::linear_backward_params<S>(dp.down, dp.down_bias, dy, activated, 1.0);
  ops::linear_backward_input<S>(dhidden, dy, p.down, 1.0);
  switch (c.ffn.activation) {
    case Activation::kRelu:
      ops::relu_backward<S>(dhidden, dhidden_view, cache.hidden);
      break;
    case Activation::kGeluTanh:
      ops::gelu_tanh_backward<S>(dhidden, dhidden_view, cache.hidden);
      break;
  }
  ops::linear_backward_params<S>(dp.up, dp.up_bias, dhidden_view, x, 1.0);
  ops::linear_backward_input<S>(dx, dhidden_view, p.up, 1.0);
}

}  // namespace headroom
