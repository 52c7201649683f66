// Bootstrap intervals of means over items (Efron 1979): as Garg et al. 90 %, of 1000 resamplings.
// The items pass by once, so that memory does not grow with their number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/rng.h"
#include "core/view.h"

namespace headroom {

struct Interval {
  double low = 0, high = 0;
};

inline constexpr std::size_t kBootstrapTrials = 1000;

// Each trial draws n_items items with replacement from 0 .. n_items-1, by stream (seed, kBootstrap,
// 0, trial), whatever is measured: means that are compared are resampled alike.
class Bootstrap {
 public:
  Bootstrap(std::uint64_t seed, std::size_t n_items);

  // How often each of the next `count` items is drawn, (kBootstrapTrials, count); valid until the
  // next call. The sum over all items is n_items in every trial.
  View<const std::uint16_t, 2> next(std::size_t count);

 private:
  std::size_t left_;  // items that have not passed
  struct Trial {
    Random random;
    std::size_t draws;  // not yet given to an item
  };
  std::vector<Trial> trials_;
  std::vector<std::uint16_t> counts_;
};

// The resampled sums of rows of numbers, one row an item.
class BootstrapSums {
 public:
  explicit BootstrapSums(std::size_t row_size) : row_size_(row_size) {}

  // rows (count, row_size), counts as Bootstrap::next gave them for these items.
  void add(std::span<const double> rows, View<const std::uint16_t, 2> counts);

  // From the 5th to the 95th percentile of entry i's resampled means; none without rows, or where a
  // sum is not finite.
  std::optional<Interval> interval(std::size_t i) const;

 private:
  std::size_t row_size_, items_ = 0;
  std::vector<double> sums_;  // (kBootstrapTrials, row_size)
};

}  // namespace headroom
