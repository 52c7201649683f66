#include "kernels/activation.h"

#include <algorithm>

#include "core/parallel.h"
#include "kernels/rows.h"
#include "kernels/vector.h"

namespace headroom::kernels {
namespace {

constexpr float kSqrt2OverPi = 0.7978845608028654f, kCubic = 0.044715f;

// body(column, width of its vector or less) for the vectors of a row of `cols`; the last may be
// short.
template <class Body>
void for_each_vector(std::size_t rows, std::size_t cols, const Body& body) {
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t c = 0; c < cols; c += kLanes) body(i, c, std::min(kLanes, cols - c));
}
inline Vec get(Matrix<const float> m, std::size_t i, std::size_t c, std::size_t n) {
  return n == kLanes ? load(m.data + i * m.stride + c) : load_part(m.data + i * m.stride + c, n);
}
inline void put(Matrix<float> m, std::size_t i, std::size_t c, std::size_t n, Vec v) {
  float* to = m.data + i * m.stride + c;
  n == kLanes ? store(to, v) : store_part(to, v, n);
}

// f(x) and f'(x): what a use of it leaves out is not computed.
struct Curve {
  Vec value, slope;
};

inline Curve relu(Vec x) {  // a NaN stays one: divergence must be seen
  return {x < 0.0f ? Vec{} : x, x > 0.0f ? broadcast(1.0f) : Vec{}};
}

// x Phi(x), Phi(x) = (1 + erf(x / sqrt(2))) / 2 and its density phi(x).
inline Curve gelu(Vec x) {
  const Vec e = exp(-0.5f * x * x);
  const Vec positive = x < 0.0f ? -x : x;
  const Vec tail = 0.5f * scaled_erfc(0.70710678f * positive) * e;  // 1 - Phi(|x|)
  const Vec distribution = x < 0.0f ? tail : 1.0f - tail, density = 0.39894228f * e;
  return {x * distribution, distribution + x * density};
}

inline Curve gelu_tanh(Vec x) {
  const Vec t = tanh(kSqrt2OverPi * (x + kCubic * x * x * x));
  const Vec inner = kSqrt2OverPi * (1.0f + 3.0f * kCubic * x * x);
  return {0.5f * x * (1.0f + t), 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * inner};
}

// Also the gate of swiglu.
inline Curve silu(Vec x) {
  const Vec s = 1.0f / (1.0f + exp(-x));
  return {x * s, s * (1.0f + x * (1.0f - s))};
}

// use(curve of f)
template <class Use>
void with_curve(Activation f, const Use& use) {
  switch (f) {
    case Activation::kRelu:
      return use([](Vec x) { return relu(x); });
    case Activation::kGelu:
      return use([](Vec x) { return gelu(x); });
    case Activation::kGeluTanh:
      return use([](Vec x) { return gelu_tanh(x); });
    case Activation::kSilu:
    case Activation::kSwiglu:
      return use([](Vec x) { return silu(x); });
  }
}

// The gates of x (n,2F), and the other half.
template <class T>
Matrix<T> gates(Matrix<T> x) {
  return x.col_range(0, x.cols / 2);
}
template <class T>
Matrix<T> gated(Matrix<T> x) {
  return x.col_range(x.cols / 2, x.cols / 2);
}

// dx = dy f'(x), and y = f(x) where kAgain.
template <bool kAgain>
void differentiate(Activation f, Matrix<float> y, Matrix<float> dx, Matrix<const float> dy,
                   Matrix<const float> x) {
  const bool gate = f == Activation::kSwiglu;
  const Matrix<float> dgates = gate ? gates(dx) : dx, dgated = gate ? gated(dx) : dx;
  const Matrix<const float> inputs = gate ? gates(x) : x, values = gate ? gated(x) : x;
  with_curve(f, [&](const auto& curve) {
    for_each_vector(dy.rows, dy.cols, [&](std::size_t i, std::size_t c, std::size_t n) {
      const Curve at = curve(get(inputs, i, c, n));
      const Vec d = get(dy, i, c, n);
      if (!gate) {
        put(dgates, i, c, n, d * at.slope);
        if (kAgain) put(y, i, c, n, at.value);
        return;
      }
      const Vec value = get(values, i, c, n);
      put(dgates, i, c, n, d * at.slope * value);
      put(dgated, i, c, n, d * at.value);
      if (kAgain) put(y, i, c, n, at.value * value);
    });
  });
}

}  // namespace

void activate(Activation f, Matrix<float> y, Matrix<const float> x) {
  const bool gate = f == Activation::kSwiglu;
  const Matrix<const float> inputs = gate ? gates(x) : x, values = gate ? gated(x) : x;
  with_curve(f, [&](const auto& curve) {
    for_each_vector(y.rows, y.cols, [&](std::size_t i, std::size_t c, std::size_t n) {
      const Vec value = curve(get(inputs, i, c, n)).value;
      put(y, i, c, n, gate ? value * get(values, i, c, n) : value);
    });
  });
}

void activate_backward(Activation f, Matrix<float> dx, Matrix<const float> dy,
                       Matrix<const float> x) {
  differentiate<false>(f, {}, dx, dy, x);
}

void activate_again_and_backward(Activation f, Matrix<float> y, Matrix<float> dx,
                                 Matrix<const float> dy, Matrix<const float> x) {
  differentiate<true>(f, y, dx, dy, x);
}

void activation_forward(View<float, 2> y, View<const float, 2> x, Activation f) {
  parallel_rows(y.dims[0], elementwise_rows(y.dims[1]), [&](std::size_t first, std::size_t count) {
    activate(f, y.range(first, count), x.range(first, count));
  });
}

void activation_backward(View<float, 2> dx, View<const float, 2> dy, View<const float, 2> x,
                         Activation f) {
  parallel_rows(
      dy.dims[0], elementwise_rows(dy.dims[1]), [&](std::size_t first, std::size_t count) {
        activate_backward(f, dx.range(first, count), dy.range(first, count), x.range(first, count));
      });
}

}  // namespace headroom::kernels
