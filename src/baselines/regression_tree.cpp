#include "baselines/regression_tree.h"

#include <algorithm>
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
  }
  ++size_;
}

TreeGrower::TreeGrower(const SortedExamples& examples) : examples_(examples) {}

Node TreeGrower::root() {
  n_ = examples_.size();
  order_.resize(examples_.dim() * n_);
  spare_.resize(n_);
  is_low_.resize(n_);
  for (std::size_t c = 0; c < examples_.dim(); ++c) {
    std::ranges::copy(examples_.order(c), order_.begin() + static_cast<std::ptrdiff_t>(c * n_));
  }
  return {0, n_};
}

std::optional<Split> TreeGrower::best_split(Node node, std::span<const double> values,
                                            double lambda) const {
  double total = 0;
  for (const std::uint32_t i : members(node)) total += values[i];
  const double n = static_cast<double>(node.size());
  const double whole = total * total / (n + lambda);
  std::optional<Split> best;
  for (std::size_t c = 0; c < examples_.dim(); ++c) {
    const std::uint32_t* const order = order_.data() + c * n_;
    double low = 0, n_low = 0;
    for (std::size_t i = node.begin; i + 1 < node.end; ++i) {
      low += values[order[i]];
      ++n_low;
      const float here = examples_.x(order[i], c), next = examples_.x(order[i + 1], c);
      if (!(here < next)) continue;
      const double high = total - low;
      const double gain = low * low / (n_low + lambda) + high * high / (n - n_low + lambda) - whole;
      if (!best || gain > best->gain) {
        // The midpoint of neighbouring floats may round up to the upper one.
        const float middle = (here + next) / 2;
        best = {.coordinate = c, .threshold = middle < next ? middle : here, .gain = gain};
      }
    }
  }
  return best;
}

// Each example's side is looked up once; the lists are divided without a branch an entry.
TreeGrower::Parts TreeGrower::divide(Node node, const Split& split) {
  for (const std::uint32_t i : members(node))
    is_low_[i] = examples_.x(i, split.coordinate) <= split.threshold;
  std::size_t n_low = 0;
  for (std::size_t c = 0; c < examples_.dim(); ++c) {
    std::uint32_t* const order = order_.data() + c * n_;
    std::size_t low = node.begin, high = 0;
    for (std::size_t i = node.begin; i < node.end; ++i) {
      const std::uint32_t example = order[i], is_low = is_low_[example];
      order[low] = example;  // where nothing is left to read
      spare_[high] = example;
      low += is_low;
      high += 1 - is_low;
    }
    std::copy_n(spare_.begin(), high, order + low);
    n_low = low;
  }
  return {.low = {node.begin, n_low}, .high = {n_low, node.end}};
}

}  // namespace headroom
