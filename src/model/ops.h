// One model, two arithmetics: each operation of the model goes to the fast kernel for float and to
// its reference twin for double and complex.
#pragma once

#include <type_traits>
#include <utility>

#include "core/phases.h"
#include "kernels/activation.h"
#include "kernels/attention_layer.h"
#include "kernels/attention_mixed.h"
#include "kernels/attention_softmax.h"
#include "kernels/ffn.h"
#include "kernels/heads.h"
#include "kernels/linear.h"
#include "kernels/loss.h"
#include "kernels/norm.h"
#include "kernels/residual.h"
#include "reference/activation.h"
#include "reference/attention_mixed.h"
#include "reference/attention_softmax.h"
#include "reference/heads.h"
#include "reference/linear.h"
#include "reference/loss.h"
#include "reference/norm.h"
#include "reference/residual.h"

namespace headroom::ops {

// The phase is the one its time counts to in `headroom bench`.
#define HEADROOM_OP(name, phase)                              \
  template <class S, class... Args>                           \
  auto name(Args&&... args) {                                 \
    if constexpr (std::is_same_v<S, float>) {                 \
      const PhaseScope scope(Phase::phase);                   \
      return kernels::name(std::forward<Args>(args)...);      \
    } else {                                                  \
      return reference::name<S>(std::forward<Args>(args)...); \
    }                                                         \
  }

HEADROOM_OP(linear_forward, kMatmul)
HEADROOM_OP(linear_backward_input, kMatmul)
HEADROOM_OP(linear_backward_params, kMatmul)
HEADROOM_OP(layernorm_forward, kNorm)
HEADROOM_OP(layernorm_backward, kNorm)
HEADROOM_OP(rmsnorm_forward, kNorm)
HEADROOM_OP(rmsnorm_backward, kNorm)
HEADROOM_OP(l2norm_forward, kNorm)
HEADROOM_OP(l2norm_backward, kNorm)
HEADROOM_OP(activation_forward, kActivation)
HEADROOM_OP(activation_backward, kActivation)
HEADROOM_OP(normalize_heads_forward, kAttention)
HEADROOM_OP(normalize_heads_backward, kAttention)
HEADROOM_OP(rotate_heads_forward, kAttention)
HEADROOM_OP(rotate_heads_backward, kAttention)
HEADROOM_OP(scale_heads_forward, kAttention)
HEADROOM_OP(scale_heads_backward, kAttention)
HEADROOM_OP(sum_heads_forward, kAttention)
HEADROOM_OP(sum_heads_backward, kAttention)
HEADROOM_OP(add_forward, kOther)
HEADROOM_OP(add_positions_forward, kOther)
HEADROOM_OP(add_positions_backward, kOther)
HEADROOM_OP(attention_scratch, kAttention)
HEADROOM_OP(attention_forward, kAttention)
HEADROOM_OP(attention_backward, kAttention)
HEADROOM_OP(mixed_attention_scratch, kAttention)
HEADROOM_OP(mixed_attention_partials, kAttention)
HEADROOM_OP(mixed_attention_forward, kAttention)
HEADROOM_OP(mixed_attention_backward, kAttention)
HEADROOM_OP(squared_loss, kLoss)
HEADROOM_OP(logistic_loss, kLoss)

#undef HEADROOM_OP

// Kernels without a twin of their own: in double and complex their parts stand for them.
inline void fused_ffn_forward(View<float, 2> y, View<float, 2> hidden, View<const float, 2> x,
                              const kernels::FfnWeights<const float>& w, Activation f,
                              const kernels::FfnMemory& memory) {
  const PhaseScope scope(Phase::kMatmul);
  kernels::fused_ffn_forward(y, hidden, x, w, f, memory);
}
inline void fused_ffn_backward(View<float, 2> dx, const kernels::FfnWeights<float>& dw,
                               View<const float, 2> dy, View<const float, 2> x,
                               View<const float, 2> hidden,
                               const kernels::FfnWeights<const float>& w, Activation f,
                               const kernels::FfnMemory& memory) {
  const PhaseScope scope(Phase::kMatmul);
  kernels::fused_ffn_backward(dx, dw, dy, x, hidden, w, f, memory);
}
inline void fused_attention_forward(View<float, 2> y, View<const float, 2> x,
                                    const kernels::AttentionWeights<const float>& w,
                                    const kernels::AttentionLayerShape& shape, View<float, 1> maps,
                                    View<float, 2> workers) {
  const PhaseScope scope(Phase::kMatmul);
  kernels::fused_attention_forward(y, x, w, shape, maps, workers);
}
inline void fused_attention_backward(View<float, 2> dx, const kernels::AttentionWeights<float>& dw,
                                     View<const float, 2> dy, View<const float, 2> x,
                                     const kernels::AttentionWeights<const float>& w,
                                     const kernels::AttentionLayerShape& shape, View<float, 1> maps,
                                     View<float, 1> partials, View<float, 2> workers) {
  const PhaseScope scope(Phase::kMatmul);
  kernels::fused_attention_backward(dx, dw, dy, x, w, shape, maps, partials, workers);
}

}  // namespace headroom::ops
