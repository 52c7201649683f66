#include "train/gradient.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "core/parallel.h"

namespace headroom {
namespace {

constexpr std::size_t kTile = 1 << 14;
constexpr std::size_t kLanes =
    16;  // independent sums, so that the loop vectorises without reordering

}  // namespace

template <class S>
GradientMeter<S>::GradientMeter(std::size_t n) : parts_((n + kTile - 1) / kTile) {}

template <class S>
GradientSize GradientMeter<S>::measure(std::span<const S> gradient) {
  const std::size_t n_tiles = (gradient.size() + kTile - 1) / kTile;
  assert(n_tiles <= parts_.size());
  parallel_rows(gradient.size(), kTile, [&](std::size_t first, std::size_t count) {
    const S* const g = gradient.data() + first;
    std::array<double, kLanes> sum{};
    std::array<S, kLanes> top{};
    std::size_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      for (std::size_t k = 0; k < kLanes; ++k) {
        const S x = g[i + k], a = x < 0 ? -x : x;
        sum[k] += static_cast<double>(x) * static_cast<double>(x);
        top[k] = a > top[k] ? a : top[k];
      }
    }
    for (std::size_t k = 0; i < count; ++i, ++k) {
      sum[k] += static_cast<double>(g[i]) * static_cast<double>(g[i]);
      top[k] = std::max(top[k], std::abs(g[i]));
    }
    Part part{0, 0};
    for (std::size_t k = 0; k < kLanes; ++k) {
      part.squares += sum[k];
      part.largest = std::max(part.largest, static_cast<double>(top[k]));
    }
    parts_[first / kTile] = part;
  });
  GradientSize size;
  double squares = 0;
  for (std::size_t tile = 0; tile < n_tiles; ++tile) {
    squares += parts_[tile].squares;
    size.largest = std::max(size.largest, parts_[tile].largest);
  }
  size.norm = std::sqrt(squares);
  return size;
}

double clip_factor(double norm, double clip_norm) {
  return std::min(1.0, clip_norm / (norm + 1e-6));
}

template <class S>
std::string first_nonfinite(const ParamTable& table, std::span<const S> values) {
  for (const ParamRow& row : table.rows()) {
    for (const S x : values.subspan(row.offset, row.size)) {
      if (!std::isfinite(x)) return row.name;
    }
  }
  return "";
}

template <class S>
std::string largest_tensor(const ParamTable& table, std::span<const S> values) {
  std::string name;
  S top = -1;
  for (const ParamRow& row : table.rows()) {
    for (const S x : values.subspan(row.offset, row.size)) {
      if (std::abs(x) > top) {
        top = std::abs(x);
        name = row.name;
      }
    }
  }
  return name;
}

template class GradientMeter<float>;
template class GradientMeter<double>;
template std::string first_nonfinite<float>(const ParamTable&, std::span<const float>);
template std::string first_nonfinite<double>(const ParamTable&, std::span<const double>);
template std::string largest_tensor<float>(const ParamTable&, std::span<const float>);
template std::string largest_tensor<double>(const ParamTable&, std::span<const double>);

}  // namespace headroom
