#include "theory/formulas.h"

#include <cmath>
#include <numbers>

namespace headroom {

double sphere_density_at_zero(std::size_t dim) {
  // By logarithms: Gamma(d/2) itself overflows beyond 340 dimensions.
  const double d = static_cast<double>(dim);
  return std::exp(std::lgamma(d / 2) - std::lgamma((d - 1) / 2)) / std::sqrt(std::numbers::pi);
}

double softmax_pair_loss(std::size_t dim, double beta) {
  return 4 * sphere_density_at_zero(dim) * (std::numbers::ln2 - 0.5) / (std::numbers::sqrt2 * beta);
}

double half_sphere_mean(std::size_t dim) {
  const double d = static_cast<double>(dim);
  return std::exp(std::lgamma(d / 2) - std::lgamma((d + 1) / 2)) / std::sqrt(std::numbers::pi);
}

double log_harmonics(std::size_t dim, std::size_t degree) {
  if (dim == 2) return std::numbers::ln2;
  const double d = static_cast<double>(dim), l = static_cast<double>(degree);
  return std::log((2 * l + d - 2) / (l + d - 2)) + std::lgamma(l + d - 1) - std::lgamma(d - 1) -
         std::lgamma(l + 1);
}

}  // namespace headroom
