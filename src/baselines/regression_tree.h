// Splitting examples by thresholds on single coordinates: what the greedy tree and the boosted
// trees share.
#pragma once

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
  float x(std::size_t example, std::size_t coordinate) const {
    return x_[coordinate * capacity_ + example];
  }

 private:
  std::size_t dim_, capacity_, size_ = 0;
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
  explicit TreeGrower(const SortedExamples& examples);
  Node root();  // of a new tree over all examples there are now

  // The split with the largest gain
  //   S_low^2 / (n_low + lambda) + S_high^2 / (n_high + lambda) - S^2 / (n + lambda),
  // S the sum and n the number of the values of each part; the first coordinate and the lowest
  // threshold of equals. With lambda 0 it is the fall of the squared error (Breiman et al. 1984),
  // otherwise that of XGBoost's objective for squared error (Chen and Guestrin 2016, equation 7),
  // twice. Thresholds lie midway between neighbours. None where no two examples differ.
  std::optional<Split> best_split(Node node, std::span<const double> values, double lambda) const;

  struct Parts {
    Node low, high;
  };
  Parts divide(Node node, const Split& split);

  std::span<const std::uint32_t> members(Node node) const {
    return {order_.data() + node.begin, node.size()};
  }

 private:
  const SortedExamples& examples_;
  std::size_t n_ = 0;
  std::vector<std::uint32_t> order_, spare_;  // (d, n), n
  std::vector<std::uint8_t> is_low_;          // n: of divide
};

}  // namespace headroom
