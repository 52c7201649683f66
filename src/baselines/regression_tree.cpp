#include "baselines/regression_tree.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace headroom {

SortedExamples::SortedExamples(std::size_t dim, std::size_t capacity)
    : dim_(dim), capacity_(capacity), x_(dim * capacity), order_(dim * capacity) {}

void SortedExamples::add(const float* x) {
  assert(size_ < capacity_);
  for (std::size_t c = 0; c < dim_; ++c) {
    float* const values = x_.data() + c * capacity_;
    std::uint32_t* const order = order_.data() + c * capacity_;
    values[size_] = x[c];
    std::size_t at = size_;
    for (; at > 0 && values[order[at - 1]] > x[c]; --at) order[at] = order[at - 1];
    order[at] = static_cast<std::uint32_t>(size_);
    if (at > 0 && values[order[at - 1]] == x[c]) all_differ_ = false;
  }
  ++size_;
}

TreeGrower::TreeGrower(const SortedExamples& examples, double lambda)
    : examples_(examples),
      n_(examples.size()),
      blocks_((examples.dim() + kLanes - 1) / kLanes),
      root_(blocks_ * n_ * kLanes),
      spare_(n_ * kLanes),
      step_(n_),
      inverse_(n_ + 1) {
  for (std::size_t c = 0; c < blocks_ * kLanes; ++c) {
    const std::span<const std::uint32_t> list = examples.order(coordinate(0, c));
    for (std::size_t i = 0; i < n_; ++i)
      root_[(c / kLanes * n_ + i) * kLanes + c % kLanes] = list[i];
  }
  for (std::size_t n = 1; n <= n_; ++n) inverse_[n] = 1 / (static_cast<double>(n) + lambda);
}

Node TreeGrower::root() {
  order_ = root_;
  return {0, n_};
}

std::optional<Split> TreeGrower::best_split(Node node, std::span<const double> values) const {
  return examples_.all_differ() ? scan<true>(node, values) : scan<false>(node, values);
}

// kLanes coordinates go through their lists side by side: a node has too few entries to make up for
// the mispredicted end of a loop for each coordinate.
template <bool kAllDiffer>
std::optional<Split> TreeGrower::scan(Node node, std::span<const double> values) const {
  using Lanes [[gnu::vector_size(kLanes * sizeof(double))]] = double;
  using Indices [[gnu::vector_size(kLanes * sizeof(double))]] = std::int64_t;
  double total = 0;
  for_members(node, [&](std::uint32_t i) { total += values[i]; });
  const double none = -1;
  Lanes gain = Lanes{} + none;
  Indices at{};  // the entry
  for (std::size_t b = 0; b < blocks_; ++b) {
    Lanes low{};
    for (std::size_t i = node.begin; i + 1 < node.end; ++i) {
      const std::uint32_t* const e = entry(b * n_ + i);
      low += Lanes{values[e[0]], values[e[1]], values[e[2]], values[e[3]]};
      const Lanes high = total - low;
      const Lanes here =
          low * low * inverse_[i + 1 - node.begin] + high * high * inverse_[node.end - i - 1];
      Indices better = here > gain;
      if constexpr (!kAllDiffer) {
        for (std::size_t l = 0; l < kLanes; ++l) {
          const std::size_t c = coordinate(b, l);
          if (!(examples_.x(e[l], c) < examples_.x(e[kLanes + l], c))) better[l] = 0;
        }
      }
      gain = better ? here : gain;
      at = better ? Indices{} + static_cast<std::int64_t>(b * n_ + i) : at;
    }
  }
  const double most = std::max(std::max(gain[0], gain[1]), std::max(gain[2], gain[3]));
  if (most == none) return std::nullopt;
  Split best{.coordinate = examples_.dim()};
  const std::uint32_t* example = nullptr;
  for (std::size_t l = 0; l < kLanes; ++l) {
    if (gain[l] != most) continue;
    const std::size_t i = static_cast<std::size_t>(at[l]), c = coordinate(i / n_, l);
    if (c >= best.coordinate) continue;
    best.coordinate = c;
    example = entry(i) + l;
  }
  const float here = examples_.x(example[0], best.coordinate),
              next = examples_.x(example[kLanes], best.coordinate);
  // The midpoint of neighbouring floats may round up to the upper one.
  const float middle = (here + next) / 2;
  best.threshold = middle < next ? middle : here;
  best.gain = most - total * total * inverse_[node.size()];
  return best;
}

// Each example's side is looked up once; the lists are divided without a branch an entry.
TreeGrower::Parts TreeGrower::divide(Node node, const Split& split, bool leaves) {
  std::size_t border = node.begin;
  for_members(node, [&](std::uint32_t i) {
    const bool is_low = examples_.x(i, split.coordinate) <= split.threshold;
    step_[i] = is_low ? kLanes : 0;
    border += is_low;
  });
  const std::size_t n_numbers = node.size() * kLanes, n_low = (border - node.begin) * kLanes;
  for (std::size_t b = 0; b < (leaves ? 1 : blocks_); ++b) {
    std::uint32_t* const list = order_.data() + (b * n_ + node.begin) * kLanes;
    std::array<std::size_t, kLanes> low{};
    for (std::size_t i = 0; i < n_numbers; i += kLanes) {
      for (std::size_t l = 0; l < kLanes; ++l) {
        const std::uint32_t example = list[i + l];
        list[low[l] + l] = example;  // where nothing is left to read
        spare_[i - low[l] + l] = example;
        low[l] += step_[example];
      }
    }
    std::copy_n(spare_.data(), n_numbers - n_low, list + n_low);
  }
  return {.low = {node.begin, border}, .high = {border, node.end}};
}

}  // namespace headroom
