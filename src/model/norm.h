// A normalisation layer: LayerNorm, RMSNorm, the one-scalar L2 norm, or none.
#pragma once

#include <algorithm>

#include "core/arena.h"
#include "model/binder.h"
#include "model/model_config.h"
#include "model/ops.h"

namespace headroom {

template <class S>
struct NormParams {
  View<S, 1> weight;  // (C) LayerNorm and RMSNorm, (1) L2, (0) none
  View<S, 1> bias;    // (C) LayerNorm, else (0)
};

template <class S>
struct NormCache {
  View<S, 1> mean;     // (n) LayerNorm
  View<S, 1> inverse;  // (n) 1/deviation, 1/root mean square or 1/length
};

template <class S>
NormParams<S> norm_params(Binder<S>& b, const ModelConfig& c, const std::string& name) {
  NormParams<S> p;
  const InitRule one{InitRule::Kind::kConstant, 1}, zero{};
  switch (c.norm.type) {
    case NormType::kLayerNorm:
      p.weight = b.template tensor<1>(name + ".weight", {c.width}, one, false);
      p.bias = b.template tensor<1>(name + ".bias", {c.width}, zero, false);
      break;
    case NormType::kRmsNorm:
      p.weight = b.template tensor<1>(name + ".weight", {c.width}, one, false);
      break;
    case NormType::kL2:
      p.weight = b.template tensor<1>(name + ".weight", {1}, one, false);
      break;
    case NormType::kNone:
      break;
  }
  return p;
}

template <class S>
NormCache<S> norm_cache(Arena<S>& a, const ModelConfig& c, std::size_t rows) {
  NormCache<S> cache;
  if (c.norm.type == NormType::kLayerNorm) cache.mean = a.take(rows);
  if (c.norm.type != NormType::kNone) cache.inverse = a.take(rows);
  return cache;
}

// y, x (n,C).
template <class S>
void norm_forward(const ModelConfig& c, View<S, 2> y, const NormCache<S>& cache, View<const S, 2> x,
                  const NormParams<S>& p) {
  switch (c.norm.type) {
    case NormType::kLayerNorm:
      ops::layernorm_forward<S>(y, cache.mean, cache.inverse, x, p.weight, p.bias, *c.norm.eps);
      break;
    case NormType::kRmsNorm:
      ops::rmsnorm_forward<S>(y, cache.inverse, x, p.weight, *c.norm.eps);
      break;
    case NormType::kL2:
      ops::l2norm_forward<S>(y, cache.inverse, x, p.weight, *c.norm.eps);
      break;
    case NormType::kNone:
      std::copy_n(x.data, x.size(), y.data);
      break;
  }
}

// dx is written, dp accumulates; row_sums (n) is scratch.
template <class S>
void norm_backward(const ModelConfig& c, View<S, 2> dx, const NormParams<S>& dp,
                   View<S, 1> row_sums, View<const S, 2> dy, View<const S, 2> x,
                   const NormCache<S>& cache, const NormParams<S>& p) {
  switch (c.norm.type) {
    case NormType::kLayerNorm:
      ops::layernorm_backward<S>(dx, dp.weight, dp.bias, dy, x, cache.mean, cache.inverse,
                                 p.weight);
      break;
    case NormType::kRmsNorm:
      ops::rmsnorm_backward<S>(dx, dp.weight, dy, x, cache.inverse, p.weight);
      break;
    case NormType::kL2:
      ops::l2norm_backward<S>(dx, dp.weight, row_sums, dy, x, cache.inverse, p.weight, *c.norm.eps);
      break;
    case NormType::kNone:
      std::copy_n(dy.data, dy.size(), dx.data);
      break;
  }
}

}  // namespace headroom
