// AdamW and SGD over the flat parameter vector, step for step as in PyTorch (torch.optim.AdamW,
// SGD).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/params.h"
#include "train/train_config.h"

namespace headroom {

// S is float or double; the state has the layout of the parameter table. With g the gradient times
// grad_scale and wd the weight decay (only for tensors with ParamRow::decay):
//
//   adamw  p -= rate wd p;  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2
//          p -= rate / (1 - b1^t) * m / (sqrt(v / (1 - b2^t)) + eps)    (Loshchilov and Hutter
//          2019)
//   sgd    g += wd p;  m = momentum m + g;  p -= rate m                 (decay is not decoupled)
template <class S>
class Optimizer {
 public:
  Optimizer(const OptimizerConfig& config, const ParamTable& table);

  // The t-th update, t from 1. Work runs in fixed tiles: any thread count gives the same bits.
  // False if a parameter it wrote is not finite.
  [[nodiscard]] bool step(std::uint64_t t, double rate, double grad_scale, std::span<S> params,
                          std::span<const S> grads);

  // Whether entries of this size square without overflow where the optimizer squares them.
  bool can_square(double largest) const;

  OptimizerType type() const { return config_.type; }
  std::span<S> m() { return m_; }
  std::span<S> v() { return v_; }  // empty for sgd
  std::span<const S> m() const { return m_; }
  std::span<const S> v() const { return v_; }

 private:
  struct Segment {  // a stretch of the flat vector under one decay
    std::size_t first, count;
    bool decay;
  };
  bool adamw(const Segment& part, std::uint64_t t, double rate, double grad_scale, S* params,
             const S* grads);
  bool sgd(const Segment& part, double rate, double grad_scale, S* params, const S* grads);

  OptimizerConfig config_;
  std::vector<Segment> segments_;  // in order, none crossing a tile's border
  std::vector<std::size_t>
      tile_segment_;  // where each tile's segments begin; one past the last at the end
  std::vector<S> m_, v_;
};

extern template class Optimizer<float>;
extern template class Optimizer<double>;

}  // namespace headroom
