#include "tasks/bootstrap.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/parallel.h"

namespace headroom {

namespace {

constexpr std::size_t kTileTrials = 50;

// Binomial(n, p) by inversion, 0 < p < 1: quick because n p is about 1 here.
std::size_t binomial(Random& random, std::size_t n, double p) {
  const double ratio = p / (1 - p);
  double u = random.uniform(), share = std::exp(static_cast<double>(n) * std::log1p(-p));
  std::size_t k = 0;
  while (u >= share && k < n) {
    u -= share;
    share *= ratio * static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
  }
  return k;
}

}  // namespace

Bootstrap::Bootstrap(std::uint64_t seed, std::size_t n_items) : left_(n_items) {
  for (std::size_t t = 0; t < kBootstrapTrials; ++t) {
    trials_.push_back({.random = Random(seed, Purpose::kBootstrap, 0, t), .draws = n_items});
  }
}

// The counts of one trial are multinomial: those of item i given the items before it are binomial,
// the draws that are left each hitting it with probability 1 / (items that are left).
View<const std::uint16_t, 2> Bootstrap::next(std::size_t count) {
  assert(count <= left_);
  counts_.resize(kBootstrapTrials * count);
  parallel_rows(kBootstrapTrials, kTileTrials, [&](std::size_t first, std::size_t n) {
    for (std::size_t t = first; t < first + n; ++t) {
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t left = left_ - i;
        const std::size_t drawn = left == 1 ? trials_[t].draws
                                            : binomial(trials_[t].random, trials_[t].draws,
                                                       1 / static_cast<double>(left));
        trials_[t].draws -= drawn;
        counts_[t * count + i] = static_cast<std::uint16_t>(drawn);
      }
    }
  });
  left_ -= count;
  return {counts_.data(), {kBootstrapTrials, count}};
}

void BootstrapSums::add(std::span<const double> rows, View<const std::uint16_t, 2> counts) {
  const std::size_t n = counts.dim(1);
  assert(counts.dim(0) == kBootstrapTrials && rows.size() == n * row_size_);
  sums_.resize(kBootstrapTrials * row_size_);
  items_ += n;
  parallel_rows(kBootstrapTrials, kTileTrials, [&](std::size_t first, std::size_t trials) {
    for (std::size_t t = first; t < first + trials; ++t) {
      double* const sum = sums_.data() + t * row_size_;
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint16_t times = counts.data[t * n + i];
        if (times == 0) continue;
        const double* const row = rows.data() + i * row_size_;
        for (std::size_t j = 0; j < row_size_; ++j) sum[j] += times * row[j];
      }
    }
  });
}

std::optional<Interval> BootstrapSums::interval(std::size_t i) const {
  if (items_ < 2) return std::nullopt;
  std::vector<double> means(kBootstrapTrials);
  for (std::size_t t = 0; t < kBootstrapTrials; ++t) {
    means[t] = sums_[t * row_size_ + i] / static_cast<double>(items_);
    if (!std::isfinite(means[t])) return std::nullopt;
  }
  std::ranges::sort(means);
  constexpr std::size_t kCut = kBootstrapTrials / 20;
  return Interval{.low = means[kCut], .high = means[kBootstrapTrials - 1 - kCut]};
}

}  // namespace headroom
