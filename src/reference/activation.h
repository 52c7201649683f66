// Twin of kernels/activation.h in plain loops.
#pragma once

#include "core/activation_type.h"
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

// Phi(x) and its density. For a complex x, erf to first order in the imaginary part, which is exact
// for the complex step: its h^2 is below rounding.
template <class S>
S normal_density(S x) {
  using std::exp;
  return 0.39894228040143267794 * exp(-0.5 * x * x);
}
template <class S>
S normal_distribution(S x) {
  const double tail = 0.5 * std::erfc(-real_part(x) * 0.70710678118654752440);
  if constexpr (std::is_floating_point_v<S>)
    return tail;
  else
    return {tail, x.imag() * normal_density(x.real())};
}

template <class S>
void gelu_forward(View<S, 2> y, View<const S, 2> x) {
  for (std::size_t i = 0; i < x.size(); ++i) y.data[i] = x.data[i] * normal_distribution(x.data[i]);
}

template <class S>
void gelu_backward(View<S, 2> dx, View<const S, 2> dy, View<const S, 2> x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const S v = x.data[i];
    dx.data[i] = dy.data[i] * (normal_distribution(v) + v * normal_density(v));
  }
}

template <class S>
S sigmoid(S x) {
  using std::exp;
  return 1.0 / (1.0 + exp(-x));
}

template <class S>
void silu_forward(View<S, 2> y, View<const S, 2> x) {
  for (std::size_t i = 0; i < x.size(); ++i) y.data[i] = x.data[i] * sigmoid(x.data[i]);
}

template <class S>
S silu_slope(S x) {
  const S s = sigmoid(x);
  return s + x * s * (1.0 - s);
}

template <class S>
void silu_backward(View<S, 2> dx, View<const S, 2> dy, View<const S, 2> x) {
  for (std::size_t i = 0; i < x.size(); ++i) dx.data[i] = dy.data[i] * silu_slope(x.data[i]);
}

template <class S>
void swiglu_forward(View<S, 2> y, View<const S, 2> x) {
  const std::size_t cols = y.dims[1];
  for (std::size_t i = 0; i < y.dims[0]; ++i)
    for (std::size_t c = 0; c < cols; ++c) y(i, c) = x(i, c) * sigmoid(x(i, c)) * x(i, cols + c);
}

template <class S>
void swiglu_backward(View<S, 2> dx, View<const S, 2> dy, View<const S, 2> x) {
  const std::size_t cols = dy.dims[1];
  for (std::size_t i = 0; i < dy.dims[0]; ++i)
    for (std::size_t c = 0; c < cols; ++c) {
      const S gate = x(i, c), up = x(i, cols + c);
      dx(i, c) = dy(i, c) * up * silu_slope(gate);
      dx(i, cols + c) = dy(i, c) * gate * sigmoid(gate);
    }
}

template <class S>
void activation_forward(View<S, 2> y, View<const S, 2> x, Activation f) {
  switch (f) {
    case Activation::kRelu:
      return relu_forward<S>(y, x);
    case Activation::kGelu:
      return gelu_forward<S>(y, x);
    case Activation::kGeluTanh:
      return gelu_tanh_forward<S>(y, x);
    case Activation::kSilu:
      return silu_forward<S>(y, x);
    case Activation::kSwiglu:
      return swiglu_forward<S>(y, x);
  }
}

template <class S>
void activation_backward(View<S, 2> dx, View<const S, 2> dy, View<const S, 2> x, Activation f) {
  switch (f) {
    case Activation::kRelu:
      return relu_backward<S>(dx, dy, x);
    case Activation::kGelu:
      return gelu_backward<S>(dx, dy, x);
    case Activation::kGeluTanh:
      return gelu_tanh_backward<S>(dx, dy, x);
    case Activation::kSilu:
      return silu_backward<S>(dx, dy, x);
    case Activation::kSwiglu:
      return swiglu_backward<S>(dx, dy, x);
  }
}

}  // namespace headroom::reference
