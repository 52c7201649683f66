#include "kernels/direct_matmul.h"

#include <algorithm>

#include "kernels/transpose.h"

namespace headroom::kernels {
namespace {

// Columns that are computed together, and as many rows as leave the sums in registers: 24 sums of
// 32 registers (AVX-512), 12 of 16 (AVX2).
constexpr std::size_t kVectors = kLanes == 16 ? 4 : 2, kColumns = kVectors * kLanes;
template <std::size_t kCount>
constexpr std::size_t kRows = kLanes == 16 ? std::min<std::size_t>(24 / kCount, 12) : 6;
// A panel of this depth and the rows it is multiplied by stay in the second-level cache.
constexpr std::size_t kDepth = 256;
// Rows of B further apart than this, in floats, share few sets of the first-level cache.
constexpr std::size_t kNear = 512;

// Rows first .. first + depth - 1 of the panel of columns j .. j + count - 1 of op(b), the columns
// beyond `count` 0 up to a whole vector. Returns the distance of its rows.
std::size_t pack_panel(float* to, Matrix<const float> b, bool transposed, std::size_t j,
                       std::size_t count, std::size_t first, std::size_t depth) {
  const std::size_t width = round_up_to_lanes(count);
  if (count < width) std::fill_n(to, depth * width, 0.0f);
  if (transposed) {
    transpose(to, width, Matrix<const float>(b.row(j) + first, count, depth, b.stride),
              [](std::size_t) { return 1.0f; });
  } else {
    for (std::size_t p = 0; p < depth; ++p)
      std::copy_n(b.row(first + p) + j, count, to + p * width);
  }
  return width;
}

// What becomes of a sum: alpha * sum + beta * c into c, of which the last vector may hold only a
// part.
struct Put {
  Matrix<float> c;
  float alpha, beta;

  void operator()(std::size_t i, std::size_t v, Vec sum) const {
    const std::size_t first = v * kLanes;
    float* to = c.data + i * c.stride + first;
    sum *= broadcast(alpha);
    if (first + kLanes <= c.cols) {
      store(to, beta == 0 ? sum : fused(broadcast(beta), load(to), sum));
    } else if (first < c.cols) {
      const std::size_t n = c.cols - first;
      store_part(to, beta == 0 ? sum : fused(broadcast(beta), load_part(to, n), sum), n);
    }
  }
};

template <std::size_t kCount>
void put_panel(const Put& put, Strided a, const float* b, std::size_t b_stride, std::size_t k) {
  small_matmul_detail::panel<kCount, kRows<kCount>>(a, b, b_stride, put.c.rows, k, put);
}

}  // namespace

void direct_matmul(Matrix<float> c, Strided a, Matrix<const float> b, bool transposed_b,
                   std::size_t k, float alpha, float beta) {
  alignas(64) float packed[kDepth * kColumns];
  std::size_t first = 0;
  do {  // once also where sums are empty: c is beta * c then
    const std::size_t depth = std::min(kDepth, k - first);
    const Strided left{a.data + first * a.col_step, a.row_step, a.col_step};
    for (std::size_t j = 0; j < c.cols; j += kColumns) {
      const std::size_t count = std::min(kColumns, c.cols - j);
      const bool ready = !transposed_b && count % kLanes == 0 && b.stride <= kNear;
      const float* const panel = ready ? b.row(first) + j : packed;
      const std::size_t stride =
          ready ? b.stride : pack_panel(packed, b, transposed_b, j, count, first, depth);
      const Put put{c.col_range(j, count), alpha, first == 0 ? beta : 1.0f};
      switch ((count + kLanes - 1) / kLanes) {
        case 1:
          put_panel<1>(put, left, panel, stride, depth);
          break;
        case 2:
          put_panel<2>(put, left, panel, stride, depth);
          break;
        case 3:
          if constexpr (kVectors > 2) put_panel<3>(put, left, panel, stride, depth);
          break;
        default:
          if constexpr (kVectors > 2) put_panel<4>(put, left, panel, stride, depth);
      }
    }
    first += kDepth;
  } while (first < k);
}

}  // namespace headroom::kernels
