#include "analysis/spectrum.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "core/linear_algebra.h"

namespace headroom {

namespace {

// A^T B (m,m) for A, B (n,m).
std::vector<double> transposed_product(Matrix<const double> a, Matrix<const double> b) {
  std::vector<double> product(a.cols * b.cols);
  for (std::size_t k = 0; k < a.rows; ++k)
    for (std::size_t i = 0; i < a.cols; ++i)
      for (std::size_t j = 0; j < b.cols; ++j) product[i * b.cols + j] += a(k, i) * b(k, j);
  return product;
}

Spectrum spectrum_of(Matrix<const double> m, double trace, double dim) {
  constexpr double kTolerance = 1e-4;
  Spectrum s;
  s.singular_values = singular_values(m);
  const std::vector<double>& sigma = s.singular_values;
  const double largest = sigma.empty() ? 0 : sigma[0];
  const double frobenius =
      std::sqrt(std::inner_product(sigma.begin(), sigma.end(), sigma.begin(), 0.0));
  s.scale = frobenius / std::sqrt(dim);
  s.angle_deg = std::acos(std::clamp(trace / (frobenius * std::sqrt(dim)), -1.0, 1.0)) * 180 /
                std::numbers::pi;
  if (!(largest > 0)) return s;
  s.stable_rank = frobenius * frobenius / (largest * largest);
  double entropy = 0;
  const double sum = std::accumulate(sigma.begin(), sigma.end(), 0.0);
  for (const double value : sigma) {
    if (value > kTolerance * largest) ++s.numerical_rank;
    if (value > 0) entropy -= value / sum * std::log(value / sum);
  }
  s.effective_rank = std::exp(entropy);
  return s;
}

}  // namespace

Spectrum product_spectrum(Matrix<const double> a, Matrix<const double> b) {
  assert(a.rows == b.rows && a.cols == b.cols);
  const std::size_t r = a.rows, d = a.cols;
  double trace = 0;
  for (std::size_t i = 0; i < r; ++i)
    trace += std::inner_product(a.row(i), a.row(i) + d, b.row(i), 0.0);
  if (r >= d) {
    const std::vector<double> m = transposed_product(a, b);
    return spectrum_of({m.data(), d, d, d}, trace, static_cast<double>(d));
  }
  // A = L_A Q_A and B = L_B Q_B with orthonormal rows: M = Q_A^T (L_A^T L_B) Q_B.
  const std::vector<double> la = lower_triangle(a), lb = lower_triangle(b),
                            m = transposed_product({la.data(), r, r, r}, {lb.data(), r, r, r});
  return spectrum_of({m.data(), r, r, r}, trace, static_cast<double>(d));
}

Spectrum matrix_spectrum(Matrix<const double> m) {
  if (m.rows != m.cols) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    return spectrum_of(m, kNone, kNone);
  }
  double trace = 0;
  for (std::size_t i = 0; i < m.rows; ++i) trace += m(i, i);
  return spectrum_of(m, trace, static_cast<double>(m.rows));
}

}  // namespace headroom
