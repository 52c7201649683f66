// The position schemes' tables: what depends on the position or distance alone.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/view.h"

namespace headroom {

inline constexpr std::size_t kRelativeBuckets = 32, kRelativeMaxDistance = 128;

// table (T,C): sin(t / 10000^(i/C)) at even coordinates i, the cosine of the same at i + 1 (Vaswani
// et al. 2017), of positions t from `first` on.
template <class S>
void fill_sinusoidal(View<S, 2> table, std::size_t first = 0) {
  const double width = static_cast<double>(table.dims[1]);
  for (std::size_t t = 0; t < table.dims[0]; ++t)
    for (std::size_t i = 0; i < table.dims[1]; ++i) {
      const double angle = static_cast<double>(first + t) /
                           std::pow(10000.0, static_cast<double>(i - i % 2) / width);
      table(t, i) = static_cast<S>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
}

// table (T,K): the cosines of t 10000^(-2i/K), i = 0 .. K/2 - 1, then the sines (Su et al. 2021),
// of positions t from `first` on.
template <class S>
void fill_rotary(View<S, 2> table, std::size_t first) {
  const std::size_t half = table.dims[1] / 2;
  for (std::size_t t = 0; t < table.dims[0]; ++t)
    for (std::size_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(first + t) *
                           std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(half));
      table(t, i) = static_cast<S>(std::cos(angle));
      table(t, half + i) = static_cast<S>(std::sin(angle));
    }
}

// Press et al. 2022: 2^(-8 i / H), i = 1 .. H, for H a power of two; elsewhere those of the power
// below, then every other one of the power above.
std::vector<double> alibi_slopes(std::size_t heads);

// T5's bucket of a key `distance` = j - i tokens after the query (Raffel et al. 2020): one a
// distance up to a quarter of the buckets (half of them if one-sided), then logarithmic up to the
// maximum distance. One-sided counts only keys before the query.
std::size_t relative_bucket(std::ptrdiff_t distance, bool one_sided);

// The distance j - i that entry `index` of a row of biases stands for; see AttentionMixers.
inline std::ptrdiff_t distance_of(std::size_t index, std::size_t keys) {
  return static_cast<std::ptrdiff_t>(keys) - 1 - static_cast<std::ptrdiff_t>(index);
}

}  // namespace headroom
