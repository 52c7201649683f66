// The mean of independent numbers with its standard error.
#pragma once

#include <cmath>
#include <limits>
#include <span>

#include "tasks/score.h"

namespace headroom {

inline Mean mean_of(std::span<const double> values) {
  const double n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  for (const double value : values) squares += (value - sum / n) * (value - sum / n);
  return {.mean = sum / n,
          .sem = values.size() > 1 ? std::sqrt(squares / (n - 1) / n)
                                   : std::numeric_limits<double>::quiet_NaN()};
}

}  // namespace headroom
