// The feed-forward layer of narrow models in one piece: y = f(x W1^T + b1) W2^T + b2, tile by tile.
// Of the hidden units at most their inputs are kept for backward; otherwise it computes these
// again, a sixth of the products.
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
// the hidden units.
bool fused_ffn_pays(const FfnShape& s);
// Whether the units' inputs are fetched faster than computed: where sums are long, or all is in
// cache.
bool keeping_hidden_pays(const FfnShape& s);
// Floats of one worker's buffers, of the row groups' shares of the weight gradients, and of the
// weights laid out for products (layout_floats).
std::size_t fused_ffn_scratch(const FfnShape& s);
std::size_t fused_ffn_partials(const FfnShape& s);
std::size_t fused_ffn_layouts(const FfnShape& s);

struct FfnMemory {
  View<float, 2> workers;   // (threads, fused_ffn_scratch)
  View<float, 1> partials;  // (fused_ffn_partials); of backward alone
  View<float, 1> layouts;   // (fused_ffn_layouts)
};

template <class T>
struct FfnWeights {
  View<T, 2> up, up_bias;      // (F,C), (1,F) or no rows; F twice with swiglu
  View<T, 2> down, down_bias;  // (C,F), (1,C) or no rows
};

// hidden (n,F), twice F with swiglu: the units' inputs, in an order of the kernel's own, for
// backward; or empty.
void fused_ffn_forward(View<float, 2> y, View<float, 2> hidden, View<const float, 2> x,
                       const FfnWeights<const float>& w, Activation f, const FfnMemory& memory);
// dx is written, dw accumulates. hidden: as forward left it.
void fused_ffn_backward(View<float, 2> dx, const FfnWeights<float>& dw, View<const float, 2> dy,
                        View<const float, 2> x, View<const float, 2> hidden,
                        const FfnWeights<const float>& w, Activation f, const FfnMemory& memory);

}  // namespace headroom::kernels
