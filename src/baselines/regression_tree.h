// Splitting examples by thresholds on single coordinates: what the greedy tree and the boosted
// trees share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/view.h"

namespace headroom {

// Examples k = 0, 1, ... sorted by each coordinate, equal ones in the order of their arrival.
class SortedExamples {
 public:
  SortedExamples(std::size_t dim, std::size_t capacity);
  void add(const float* x);  // the next example's `dim` coordinates, which are copied

  std::size_t dim() const { return dim_; }
  std::size_t size() const { return size_; }
  std::span<const std::uint32_t> order(std::size_t coordinate) const {
    return {order_.data() + coordinate * capacity_, size_};
  }
  // No two examples agree in any coordinate.
  bool all_differ() const { return all_differ_; }
  float x(std::size_t example, std::size_t coordinate) const {
    return x_[coordinate * capacity_ + example];
  }

 private:
  std::size_t dim_, capacity_, size_ = 0;
  bool all_differ_ = true;
  std::vector<float> x_;              // (d, capacity)
  std::vector<std::uint32_t> order_;  // (d, capacity)
};

// `x(coordinate) <= threshold` goes to the lower part.
struct Split {
  std::size_t coordinate = 0;
  float threshold = 0;
  double gain = 0;
};

// A tree while it grows: a node holds the entries begin .. end - 1 of every coordinate's list, the
// same examples in each.
struct Node {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
};

class TreeGrower {
 public:
  // `examples` must stay as they are.
  TreeGrower(const SortedExamples& examples, double lambda);
  Node root();  // of a new tree over all of them

  // The split with the largest gain
  //   S_low^2 / (n_low + lambda) + S_high^2 / (n_high + lambda) - S^2 / (n + lambda),
  // S the sum and n the number of the values of each part; the first coordinate and the lowest
  // threshold of equals. With lambda 0 it is the fall of the squared error (Breiman et al. 1984),
  // otherwise that of XGBoost's objective for squared error (Chen and Guestrin 2016, equation 7),
  // twice. Thresholds lie midway between neighbours. None where no two examples differ.
  std::optional<Split> best_split(Node node, std::span<const double> values) const;

  struct Parts {
    Node low, high;
  };
  // `leaves`: the parts are not split again, so that only their members are told apart.
  Parts divide(Node node, const Split& split, bool leaves = false);

  // Calls visit(example) for each of the node's.
  template <typename Visit>
  void for_members(Node node, const Visit& visit) const {
    for (std::size_t i = node.begin; i < node.end; ++i) visit(*entry(i));
  }

 private:
  static constexpr std::size_t kLanes = 4;

  template <bool kAllDiffer>  // no equal ones among the examples' coordinates
  std::optional<Split> scan(Node node, std::span<const double> values) const;
  const std::uint32_t* entry(std::size_t i) const { return order_.data() + i * kLanes; }
  std::size_t coordinate(std::size_t block, std::size_t lane) const {
    return std::min(block * kLanes + lane, examples_.dim() - 1);  // the last one fills its block
  }

  const SortedExamples& examples_;
  std::size_t n_, blocks_;
  // The lists of kLanes coordinates stand side by side, entry by entry.
  std::vector<std::uint32_t> root_, order_, spare_;  // (blocks, n, lanes) twice, (n, lanes)
  std::vector<std::uint32_t> step_;  // n: of divide, kLanes for an example of the lower part
  std::vector<double> inverse_;      // of n + lambda
};

}  // namespace headroom
