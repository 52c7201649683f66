// One model, two arithmetics: each operation of the model goes to the fast kernel for float and to
// its reference twin for double and complex.
#pragma once

#include <type_traits>
#include <utility>

#include "kernels/activation.h"
#include "kernels/attention_mixed.h"
#include "kernels/attention_softmax.h"
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

#define HEADROOM_OP(name)                                     \
  template <class S, class... Args>                           \
  auto name(Args&&... args) {                                 \
    if constexpr (std::is_same_v<S, float>)                   \
      return kernels::name(std::forward<Args>(args)...);      \
    else                                                      \
      return reference::name<S>(std::forward<Args>(args)...); \
  }

HEADROOM_OP(linear_forward)
HEADROOM_OP(linear_backward_input)
HEADROOM_OP(linear_backward_params)
HEADROOM_OP(layernorm_forward)
HEADROOM_OP(layernorm_backward)
HEADROOM_OP(rmsnorm_forward)
HEADROOM_OP(rmsnorm_backward)
HEADROOM_OP(l2norm_forward)
HEADROOM_OP(l2norm_backward)
HEADROOM_OP(relu_forward)
HEADROOM_OP(relu_backward)
HEADROOM_OP(gelu_tanh_forward)
HEADROOM_OP(gelu_tanh_backward)
HEADROOM_OP(gelu_forward)
HEADROOM_OP(gelu_backward)
HEADROOM_OP(silu_forward)
HEADROOM_OP(silu_backward)
HEADROOM_OP(swiglu_forward)
HEADROOM_OP(swiglu_backward)
HEADROOM_OP(normalize_heads_forward)
HEADROOM_OP(normalize_heads_backward)
HEADROOM_OP(rotate_heads_forward)
HEADROOM_OP(rotate_heads_backward)
HEADROOM_OP(scale_heads_forward)
HEADROOM_OP(scale_heads_backward)
HEADROOM_OP(sum_heads_forward)
HEADROOM_OP(sum_heads_backward)
HEADROOM_OP(add_forward)
HEADROOM_OP(add_positions_forward)
HEADROOM_OP(add_positions_backward)
HEADROOM_OP(attention_scratch)
HEADROOM_OP(attention_forward)
HEADROOM_OP(attention_backward)
HEADROOM_OP(mixed_attention_scratch)
HEADROOM_OP(mixed_attention_partials)
HEADROOM_OP(mixed_attention_forward)
HEADROOM_OP(mixed_attention_backward)
HEADROOM_OP(squared_loss)

#undef HEADROOM_OP

}  // namespace headroom::ops
