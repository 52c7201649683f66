#include "theory/formulas.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>
#include <vector>

namespace headroom {

namespace {

// Midpoints of (0, pi/2) with weights that add up to 1, proportional to sin^a cos^b. By logarithms:
// the powers themselves may underflow everywhere.
constexpr std::size_t kAngles = 200;
constexpr double kHalfPi = std::numbers::pi / 2;

struct Angles {
  std::vector<double> angle, weight;

  Angles(std::size_t nodes, double a, double b) : angle(nodes), weight(nodes) {
    for (std::size_t i = 0; i < nodes; ++i) {
      angle[i] = kHalfPi * (static_cast<double>(i) + 0.5) / static_cast<double>(nodes);
      weight[i] = a * std::log(std::sin(angle[i])) + b * std::log(std::cos(angle[i]));
    }
    const double largest = *std::max_element(weight.begin(), weight.end());
    double sum = 0;
    for (double& w : weight) sum += w = std::exp(w - largest);
    for (double& w : weight) w /= sum;
  }

  // Of the angle between a uniform point and the line of a fixed direction.
  static Angles of_line(std::size_t nodes, std::size_t dim) {
    return {nodes, static_cast<double>(dim) - 2, 0};
  }
};

// Pr[c > x] of a coordinate c of a uniform point in dim >= 2 dimensions, for x >= 0.
class CoordinateTail {
 public:
  explicit CoordinateTail(std::size_t dim) : below_(kNodes + 1, 0.0) {
    const Angles line = Angles::of_line(kNodes, dim);
    for (std::size_t i = 0; i < kNodes; ++i) below_[i + 1] = below_[i] + line.weight[i] / 2;
  }
  double operator()(double x) const {
    if (x >= 1) return 0;
    const double at = std::acos(x) / kHalfPi * kNodes;
    const std::size_t i = std::min(static_cast<std::size_t>(at), kNodes - 1);
    return below_[i] + (at - static_cast<double>(i)) * (below_[i + 1] - below_[i]);
  }

 private:
  static constexpr std::size_t kNodes = 4000;
  std::vector<double> below_;
};

}  // namespace

double sphere_density_at_zero(std::size_t dim) {
  // By logarithms: Gamma(d/2) itself overflows beyond 340 dimensions.
  const double d = static_cast<double>(dim);
  return std::exp(std::lgamma(d / 2) - std::lgamma((d - 1) / 2)) / std::sqrt(std::numbers::pi);
}

double softmax_pair_loss(std::size_t dim, double beta) {
  return 4 * sphere_density_at_zero(dim) * (std::numbers::ln2 - 0.5) / (std::numbers::sqrt2 * beta);
}

double normalized_softmax_pair_loss(std::size_t dim, double beta) {
  return 4 * sphere_density_at_zero(dim) * std::log((1 + std::numbers::sqrt2) / 2) /
         (std::numbers::sqrt2 * beta);
}

// With y = P y + the rest, |P y| = sin alpha, the head sees <P y, w> = sin alpha (cos theta sin
// alpha + sin theta cos alpha c), c a coordinate of a uniform point in dim - 1 dimensions.
double average_vote_loss(std::size_t dim, std::size_t rank, std::size_t heads) {
  assert(rank >= 1 && rank <= dim);
  if (rank == dim) return 0;
  const double d = static_cast<double>(dim), r = static_cast<double>(rank),
               h = static_cast<double>(heads);
  const Angles theta = Angles::of_line(kAngles, dim);
  double loss = 0;
  const auto add = [&](std::size_t i, double q) {
    loss += theta.weight[i] * 2 * (q * q + q * (1 - q) / h);
  };
  if (rank == 1) {
    for (std::size_t i = 0; i < kAngles; ++i) add(i, theta.angle[i] / std::numbers::pi);
    return loss;
  }
  const Angles alpha(kAngles, r - 1, d - r - 1);
  std::vector<double> slope(kAngles);
  for (std::size_t j = 0; j < kAngles; ++j) slope[j] = std::tan(alpha.angle[j]);
  const CoordinateTail tail(dim - 1);
  for (std::size_t i = 0; i < kAngles; ++i) {
    double q = 0;
    const double cotangent = 1 / std::tan(theta.angle[i]);
    for (std::size_t j = 0; j < kAngles; ++j) q += alpha.weight[j] * tail(slope[j] * cotangent);
    add(i, q);
  }
  return loss;
}

double majority_vote_loss(std::size_t dim, std::size_t heads) {
  const Angles theta = Angles::of_line(kAngles, dim);
  const double h = static_cast<double>(heads);
  double loss = 0;
  for (std::size_t i = 0; i < kAngles; ++i) {
    const double q = theta.angle[i] / std::numbers::pi;
    double wrong = 0;
    for (std::size_t n = (heads + 1) / 2; n <= heads; ++n) {
      const double k = static_cast<double>(n);
      const double log_share = std::lgamma(h + 1) - std::lgamma(k + 1) - std::lgamma(h - k + 1) +
                               k * std::log(q) + (h - k) * std::log1p(-q);
      wrong += std::exp(log_share) * (2 * n == heads ? 0.5 : 1);
    }
    loss += theta.weight[i] * 2 * wrong;
  }
  return loss;
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
