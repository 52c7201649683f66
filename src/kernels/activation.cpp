#include "kernels/activation.h"

#include <algorithm>

#include "core/parallel.h"
#include "kernels/vector.h"

namespace headroom::kernels {
namespace {

constexpr std::size_t kTile = 32768;  // elements
constexpr float kSqrt2OverPi = 0.7978845608028654f, kCubic = 0.044715f;

// y[i] = f(a[i], b[i]) by whole vectors, in fixed tiles.
template <class F>
void map(float* y, const float* a, const float* b, std::size_t n, const F& f) {
  parallel_rows(n, kTile, [&](std::size_t first, std::size_t count) {
    std::size_t i = first;
    for (; i + kLanes <= first + count; i += kLanes) store(y + i, f(load(a + i), load(b + i)));
    if (const std::size_t rest = first + count - i; rest > 0)
      store_part(y + i, f(load_part(a + i, rest), load_part(b + i, rest)), rest);
  });
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

// f(gate, up, i) for each vector of a row of `cols` hidden units; the last one may be short.
template <class F>
void map_gated(std::size_t rows, std::size_t cols, const F& f) {
  parallel_rows(rows, std::max<std::size_t>(1, kTile / std::max<std::size_t>(1, cols)),
                [&](std::size_t first, std::size_t count) {
                  for (std::size_t i = first; i < first + count; ++i)
                    for (std::size_t c = 0; c < cols; c += kLanes)
                      f(i, c, std::min(kLanes, cols - c));
                });
}

}  // namespace

void relu_forward(View<float, 2> y, View<const float, 2> x) {
  // max(x, 0), but a NaN stays one: divergence must be seen.
  map(y.data, x.data, x.data, x.size(), [](Vec v, Vec) { return v < 0.0f ? Vec{} : v; });
}

void relu_backward(View<float, 2> dx, View<const float, 2> dy, View<const float, 2> x) {
  map(dx.data, dy.data, x.data, x.size(), [](Vec g, Vec v) { return v > 0.0f ? g : Vec{}; });
}

void gelu_tanh_forward(View<float, 2> y, View<const float, 2> x) {
  map(y.data, x.data, x.data, x.size(), [](Vec v, Vec) {
    const Vec t = tanh(kSqrt2OverPi * (v + kCubic * v * v * v));
    return 0.5f * v * (1.0f + t);
  });
}

void gelu_tanh_backward(View<float, 2> dx, View<const float, 2> dy, View<const float, 2> x) {
  map(dx.data, dy.data, x.data, x.size(), [](Vec g, Vec v) {
    const Vec t = tanh(kSqrt2OverPi * (v + kCubic * v * v * v));
    const Vec inner = kSqrt2OverPi * (1.0f + 3.0f * kCubic * v * v);
    return g * (0.5f * (1.0f + t) + 0.5f * v * (1.0f - t * t) * inner);
  });
}

void gelu_forward(View<float, 2> y, View<const float, 2> x) {
  map(y.data, x.data, x.data, x.size(), [](Vec v, Vec) { return v * normal(v).distribution; });
}

void gelu_backward(View<float, 2> dx, View<const float, 2> dy, View<const float, 2> x) {
  map(dx.data, dy.data, x.data, x.size(), [](Vec g, Vec v) {
    const Normal n = normal(v);
    return g * (n.distribution + v * n.density);
  });
}

void silu_forward(View<float, 2> y, View<const float, 2> x) {
  map(y.data, x.data, x.data, x.size(), [](Vec v, Vec) { return v * sigmoid(v); });
}

void silu_backward(View<float, 2> dx, View<const float, 2> dy, View<const float, 2> x) {
  map(dx.data, dy.data, x.data, x.size(), [](Vec g, Vec v) { return g * silu_slope(v); });
}

void swiglu_forward(View<float, 2> y, View<const float, 2> x) {
  const std::size_t cols = y.dims[1];
  map_gated(y.dims[0], cols, [&](std::size_t i, std::size_t c, std::size_t n) {
    const float* gate = x.data + i * 2 * cols + c;
    const Vec g = load_part(gate, n), up = load_part(gate + cols, n);
    store_part(y.data + i * cols + c, g * sigmoid(g) * up, n);
  });
}

void swiglu_backward(View<float, 2> dx, View<const float, 2> dy, View<const float, 2> x) {
  const std::size_t cols = dy.dims[1];
  map_gated(dy.dims[0], cols, [&](std::size_t i, std::size_t c, std::size_t n) {
    const float* gate = x.data + i * 2 * cols + c;
    float* dgate = dx.data + i * 2 * cols + c;
    const Vec g = load_part(gate, n), up = load_part(gate + cols, n);
    const Vec d = load_part(dy.data + i * cols + c, n);
    store_part(dgate, d * up * silu_slope(g), n);
    store_part(dgate + cols, d * g * sigmoid(g), n);
  });
}

}  // namespace headroom::kernels
