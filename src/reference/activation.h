// Twin of kernels/activation.h in plain loops.
#pragma once

#include "core/view.h"
#include "reference/scalar.h"

namespace headroom::reference {

template <class S>
void relu_forward(View<S, 2> y, View<const S, 2> x) {
  for (std::size_t i = 0; i < x.size(); ++i) y.data[i] = real_part(x.data[i]) < 0 ? S{} : x.data[i];
}

template <class S>
void relu_backward(View<S, 2> dx, View<const S, 2> dy, View<const S, 2> x) {
  for (std::size_t i = 0; i < x.size(); ++i)
    dx.data[i] = real_part(x.data[i]) > 0 ? dy.data[i] : S{};
}

inline constexpr double kSqrt2OverPi = 0.79788456080286535588, kGeluCubic = 0.044715;

template <class S>
void gelu_tanh_forward(View<S, 2> y, View<const S, 2> x) {
  using std::tanh;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const S v = x.data[i];
    y.data[i] = 0.5 * v * (1.0 + tanh(kSqrt2OverPi * (v + kGeluCubic * v * v * v)));
  }
}

template <class S>
void gelu_tanh_backward(View<S, 2> dx, View<const S, 2> dy, View<const S, 2> x) {
  using std::tanh;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const S v = x.data[i], t = tanh(kSqrt2OverPi * (v + kGeluCubic * v * v * v));
    const S inner = kSqrt2OverPi * (1.0 + 3.0 * kGeluCubic * v * v);
    dx.data[i] = dy.data[i] * (0.5 * (1.0 + t) + 0.5 * v * (1.0 - t * t) * inner);
  }
}

}  // namespace headroom::reference
