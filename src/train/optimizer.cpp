#include "train/optimizer.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>
#include <limits>

#include "core/memory.h"
#include "core/parallel.h"

namespace headroom {
namespace {

constexpr std::size_t kUpdateTile = 1 << 14;

template <class S>
constexpr bool is_number(S x) {
  return (x < 0 ? -x : x) <= std::numeric_limits<S>::max();  // false for NaN too; vectorises
}

}  // namespace

template <class S>
Optimizer<S>::Optimizer(const OptimizerConfig& config, const ParamTable& table) : config_(config) {
  const bool squares = config_.type == OptimizerType::kAdamW;
  require_memory(static_cast<double>(sizeof(S) * table.size() * (squares ? 2 : 1)),
                 "the optimizer's state",
                 "a smaller model.width, model.layers or fewer heads need less");
  m_.resize(table.size());
  if (squares) v_.resize(table.size());
  for (const ParamRow& row : table.rows()) {
    const bool decay = row.decay && config_.weight_decay != 0;
    const std::size_t end = row.offset + row.size;
    for (std::size_t at = row.offset; at < end;) {
      const std::size_t stop = std::min(end, (at / kUpdateTile + 1) * kUpdateTile);
      Segment* last = segments_.empty() ? nullptr : &segments_.back();
      if (last != nullptr && last->decay == decay && last->first + last->count == at &&
          at % kUpdateTile != 0) {
        last->count += stop - at;
      } else {
        segments_.push_back({at, stop - at, decay});
      }
      at = stop;
    }
  }
  const std::size_t n_tiles = (table.size() + kUpdateTile - 1) / kUpdateTile;
  std::size_t segment = 0;
  for (std::size_t tile = 0; tile <= n_tiles; ++tile) {
    while (segment < segments_.size() && segments_[segment].first < tile * kUpdateTile) ++segment;
    tile_segment_.push_back(segment);
  }
}

template <class S>
bool Optimizer<S>::can_square(double largest) const {
  return config_.type != OptimizerType::kAdamW ||
         largest <= std::sqrt(static_cast<double>(std::numeric_limits<S>::max()));
}

template <class S>
bool Optimizer<S>::step(std::uint64_t t, double rate, double grad_scale, std::span<S> params,
                        std::span<const S> grads) {
  assert(t >= 1 && params.size() == m_.size() && grads.size() == m_.size());
  std::atomic<bool> finite = true;
  parallel_for(tile_segment_.size() - 1, [&](std::size_t tile) {
    for (std::size_t i = tile_segment_[tile]; i < tile_segment_[tile + 1]; ++i) {
      const bool ok = config_.type == OptimizerType::kAdamW
                          ? adamw(segments_[i], t, rate, grad_scale, params.data(), grads.data())
                          : sgd(segments_[i], rate, grad_scale, params.data(), grads.data());
      if (!ok) finite = false;
    }
  });
  return finite;
}

template <class S>
bool Optimizer<S>::adamw(const Segment& part, std::uint64_t t, double rate, double grad_scale,
                         S* params, const S* grads) {
  const auto [beta1, beta2] = config_.betas;
  const double correction1 = 1 - std::pow(beta1, static_cast<double>(t));
  const double correction2 = 1 - std::pow(beta2, static_cast<double>(t));
  const S b1 = static_cast<S>(beta1), c1 = static_cast<S>(1 - beta1);
  const S b2 = static_cast<S>(beta2), c2 = static_cast<S>(1 - beta2);
  const S root2 = static_cast<S>(std::sqrt(correction2)), eps = static_cast<S>(config_.eps);
  const S size = static_cast<S>(rate / correction1), scale = static_cast<S>(grad_scale);
  const S shrink = part.decay ? static_cast<S>(1 - rate * config_.weight_decay) : S(1);
  S* const __restrict p = params + part.first;
  S* const __restrict m = m_.data() + part.first;
  S* const __restrict v = v_.data() + part.first;
  const S* const __restrict g_in = grads + part.first;
  int bad = 0;
  for (std::size_t i = 0; i < part.count; ++i) {
    const S g = g_in[i] * scale;
    m[i] = b1 * m[i] + c1 * g;
    v[i] = b2 * v[i] + c2 * g * g;
    p[i] = p[i] * shrink - size * (m[i] / (std::sqrt(v[i]) / root2 + eps));
    bad |= is_number(p[i]) ? 0 : 1;
  }
  return bad == 0;
}

template <class S>
bool Optimizer<S>::sgd(const Segment& part, double rate, double grad_scale, S* params,
                       const S* grads) {
  const S mu = static_cast<S>(config_.momentum), scale = static_cast<S>(grad_scale);
  const S decay = part.decay ? static_cast<S>(config_.weight_decay) : S(0);
  const S size = static_cast<S>(rate);
  S* const __restrict p = params + part.first;
  S* const __restrict m = m_.data() + part.first;
  const S* const __restrict g_in = grads + part.first;
  int bad = 0;
  for (std::size_t i = 0; i < part.count; ++i) {
    const S g = g_in[i] * scale + decay * p[i];
    m[i] = mu * m[i] + g;
    p[i] -= size * m[i];
    bad |= is_number(p[i]) ? 0 : 1;
  }
  return bad == 0;
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace headroom
