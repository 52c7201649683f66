#include "kernels/activation.h"

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

}  // namespace headroom::kernels
