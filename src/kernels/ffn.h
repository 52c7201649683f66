// The feed-forward layer of narrow models in one piece: y = f(x W1^T + b1) W2^T + b2. Its hidden
// units are computed tile by tile and never lie in memory; backward computes them again, which
// costs a sixth of the products and saves reading and writing them (n,F) several times.
#pragma once

#include "core/activation_type.h"
#include "core/view.h"

namespace headroom::kernels {

// F hidden units of inputs_a_unit(f) inputs each.
struct FfnShape {
  std::size_t rows, width, hidden;  // n, C, F
  Activation activation;
};

// Whether the fused layer beats its parts: the sums of its weight gradients must be small beside
// the hidden units, and computing these again must cost less than fetching them.
bool fused_ffn_pays(const FfnShape& s);
// Floats of one worker's buffers, and of the row groups' shares of the weight gradients.
std::size_t fused_ffn_scratch(const FfnShape& s);
std::size_t fused_ffn_partials(const FfnShape& s);

template <class T>
struct FfnWeights {
  View<T, 2> up, up_bias;      // (F,C), (1,F) or no rows; F twice with swiglu
  View<T, 2> down, down_bias;  // (C,F), (1,C) or no rows
};

// workers (threads, fused_ffn_scratch).
void fused_ffn_forward(View<float, 2> y, View<const float, 2> x, const FfnWeights<const float>& w,
                       Activation f, View<float, 2> workers);
// dx is written, dw accumulates. partials (fused_ffn_partials).
void fused_ffn_backward(View<float, 2> dx, const FfnWeights<float>& dw, View<const float, 2> dy,
                        View<const float, 2> x, const FfnWeights<const float>& w, Activation f,
                        View<float, 1> partials, View<float, 2> workers);

}  // namespace headroom::kernels
