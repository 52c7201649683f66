#include "kernels/activation.h"

#include "core/parallel.h"
#include "kernels/rows.h"
#include "kernels/vector.h"

namespace headroom::kernels {
namespace {

constexpr float kSqrt2OverPi = 0.7978845608028654f, kCubic = 0.044715f;

// y = f(a, b), element by element; the last vector of a row may be short.
template <class F>
void map(Matrix<float> y, Matrix<const float> a, Matrix<const float> b, const F& f) {
  for (std::size_t i = 0; i < y.rows; ++i) {
    float* to = y.row(i);
    const float *x1 = a.row(i), *x2 = b.row(i);
    std::size_t c = 0;
    for (; c + kLanes <= y.cols; c += kLanes) store(to + c, f(load(x1 + c), load(x2 + c)));
    if (const std::size_t rest = y.cols - c; rest > 0)
      store_part(to + c, f(load_part(x1 + c, rest), load_part(x2 + c, rest)), rest);
  }
}

inline Vec sigmoid(Vec x) { return 1.0f / (1.0f + exp(-x)); }
inline Vec silu_slope(Vec x) {
  const Vec s = sigmoid(x);
  return s * (1.0f + x * (1.0f - s));
}

// Phi(x) = (1 + erf(x / sqrt(2))) / 2, the density phi(x) beside it.
struct Normal {
  Vec distribution, density;
};
Normal normal(Vec x) {
  const Vec e = exp(-0.5f * x * x);
  const Vec positive = x < 0.0f ? -x : x;
  const Vec tail = 0.5f * scaled_erfc(0.70710678f * positive) * e;  // 1 - Phi(|x|)
  return {x < 0.0f ? tail : 1.0f - tail, 0.39894228f * e};
}

// The inner function of tanh's gelu, and its slope.
inline Vec gelu_tanh_inner(Vec x) { return tanh(kSqrt2OverPi * (x + kCubic * x * x * x)); }
Vec gelu_tanh_slope(Vec x) {
  const Vec t = gelu_tanh_inner(x);
  const Vec inner = kSqrt2OverPi * (1.0f + 3.0f * kCubic * x * x);
  return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * inner;
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

}  // namespace

void activate(Activation f, Matrix<float> y, Matrix<const float> x) {
  switch (f) {
    case Activation::kRelu:  // a NaN stays one: divergence must be seen
      return map(y, x, x, [](Vec v, Vec) { return v < 0.0f ? Vec{} : v; });
    case Activation::kGelu:
      return map(y, x, x, [](Vec v, Vec) { return v * normal(v).distribution; });
    case Activation::kGeluTanh:
      return map(y, x, x, [](Vec v, Vec) { return 0.5f * v * (1.0f + gelu_tanh_inner(v)); });
    case Activation::kSilu:
      return map(y, x, x, [](Vec v, Vec) { return v * sigmoid(v); });
    case Activation::kSwiglu:
      return map(y, gates(x), gated(x), [](Vec g, Vec v) { return g * sigmoid(g) * v; });
  }
}

void activate_backward(Activation f, Matrix<float> dx, Matrix<const float> dy,
                       Matrix<const float> x) {
  switch (f) {
    case Activation::kRelu:
      return map(dx, dy, x, [](Vec d, Vec v) { return v > 0.0f ? d : Vec{}; });
    case Activation::kGelu:
      return map(dx, dy, x, [](Vec d, Vec v) {
        const Normal n = normal(v);
        return d * (n.distribution + v * n.density);
      });
    case Activation::kGeluTanh:
      return map(dx, dy, x, [](Vec d, Vec v) { return d * gelu_tanh_slope(v); });
    case Activation::kSilu:
      return map(dx, dy, x, [](Vec d, Vec v) { return d * silu_slope(v); });
    case Activation::kSwiglu:
      map(gates(dx), dy, gates(x), [](Vec d, Vec g) { return d * silu_slope(g); });
      map(gates(dx), gates(Matrix<const float>(dx)), gated(x), [](Vec d, Vec v) { return d * v; });
      return map(gated(dx), dy, gates(x), [](Vec d, Vec g) { return d * g * sigmoid(g); });
  }
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
