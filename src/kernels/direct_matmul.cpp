#include "kernels/direct_matmul.h"

#include <algorithm>
#include <cassert>
#include <type_traits>

#include "kernels/transpose.h"

namespace headroom::kernels {
namespace {

// The panel of columns j .. j + count - 1 of op(b), (k, kPanel), the columns beyond `count` 0.
void pack_panel(float* to, Matrix<const float> b, bool transposed, std::size_t j, std::size_t count,
                std::size_t k) {
  if (count < kPanel) std::fill_n(to, k * kPanel, 0.0f);
  if (!transposed) {
    for (std::size_t p = 0; p < k; ++p) std::copy_n(b.row(p) + j, count, to + p * kPanel);
    return;
  }
  transpose(to, kPanel, Matrix<const float>(b.row(j), count, k, b.stride),
            [](std::size_t) { return 1.0f; });
}

// What becomes of a sum: alpha * sum + beta * c into c at column j, of which the last vector of the
// last panel may hold only a part.
template <bool kWhole, bool kAdd>
struct Put {
  float* c;
  std::size_t stride, cols;
  float alpha, beta;

  void operator()(std::size_t i, std::size_t v, Vec sum) const {
    const std::size_t first = v * kLanes;
    float* to = c + i * stride + first;
    sum *= broadcast(alpha);
    if (kWhole || first + kLanes <= cols) {
      store(to, kAdd ? fused(broadcast(beta), load(to), sum) : sum);
    } else if (first < cols) {
      const std::size_t n = cols - first;
      store_part(to, kAdd ? fused(broadcast(beta), load_part(to, n), sum) : sum, n);
    }
  }
};

template <std::size_t kVectors>
void put_panel(Matrix<float> c, Strided a, const float* b, std::size_t b_stride, std::size_t k,
               float alpha, float beta) {
  using small_matmul_detail::panel;
  const auto run = [&](auto whole, auto add) {
    const Put<whole(), add()> put{c.data, c.stride, c.cols, alpha, beta};
    panel<kVectors>(a, b, b_stride, c.rows, k, put);
  };
  const bool whole = c.cols == kVectors * kLanes;
  if (whole && beta == 0) return run(std::true_type{}, std::false_type{});
  if (whole) return run(std::true_type{}, std::true_type{});
  if (beta == 0) return run(std::false_type{}, std::false_type{});
  run(std::false_type{}, std::true_type{});
}

}  // namespace

void direct_matmul(Matrix<float> c, Strided a, Matrix<const float> b, bool transposed_b,
                   std::size_t k, float alpha, float beta) {
  alignas(64) float packed[kMostDepth * kPanel];
  for (std::size_t j = 0; j < c.cols; j += kPanel) {
    const std::size_t count = std::min(kPanel, c.cols - j);
    const bool ready = !transposed_b && count % kLanes == 0;
    if (!ready) {
      assert(k <= kMostDepth);
      pack_panel(packed, b, transposed_b, j, count, k);
    }
    const auto put = count <= kLanes ? put_panel<1> : put_panel<2>;
    put(c.col_range(j, count), a, ready ? b.data + j : packed, ready ? b.stride : kPanel, k, alpha,
        beta);
  }
}

}  // namespace headroom::kernels
