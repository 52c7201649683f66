#include "model/positions.h"

#include <algorithm>
#include <bit>

namespace headroom {

std::vector<double> alibi_slopes(std::size_t heads) {
  const std::size_t power = std::bit_floor(heads);
  std::vector<double> slopes;
  for (std::size_t i = 1; i <= power; ++i)
    slopes.push_back(std::exp2(-8.0 * static_cast<double>(i) / static_cast<double>(power)));
  for (std::size_t i = 1; slopes.size() < heads; i += 2)
    slopes.push_back(std::exp2(-4.0 * static_cast<double>(i) / static_cast<double>(power)));
  return slopes;
}

std::size_t relative_bucket(std::ptrdiff_t distance, bool one_sided) {
  const std::size_t count = one_sided ? kRelativeBuckets : kRelativeBuckets / 2;
  const std::size_t base = !one_sided && distance > 0 ? count : 0;
  const std::ptrdiff_t back =
      one_sided ? std::max<std::ptrdiff_t>(-distance, 0) : std::abs(distance);
  const std::size_t n = static_cast<std::size_t>(back), exact = count / 2;
  if (n < exact) return base + n;
  const double share =
      std::log(static_cast<double>(n) / static_cast<double>(exact)) /
      std::log(static_cast<double>(kRelativeMaxDistance) / static_cast<double>(exact));
  const std::size_t far =
      exact + static_cast<std::size_t>(share * static_cast<double>(count - exact));
  return base + std::min(far, count - 1);
}

}  // namespace headroom
