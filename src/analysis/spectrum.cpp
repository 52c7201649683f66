#include "analysis/spectrum.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>

namespace headroom {

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>> map(Matrix<const double> m) {
  return {m.data, static_cast<Eigen::Index>(m.rows), static_cast<Eigen::Index>(m.cols),
          Eigen::OuterStride<>(static_cast<Eigen::Index>(m.stride))};
}

// R of the QR decomposition of A^T, (r,r) for A (r,d) with r <= d.
Eigen::MatrixXd triangle(Matrix<const double> a) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(map(a).transpose());
  return qr.matrixQR().topRows(static_cast<Eigen::Index>(a.rows)).triangularView<Eigen::Upper>();
}

Spectrum spectrum_of(const Eigen::MatrixXd& m, double trace, double dim) {
  constexpr double kTolerance = 1e-4;
  const Eigen::VectorXd sigma = m.bdcSvd().singularValues();
  Spectrum s;
  s.singular_values.assign(sigma.begin(), sigma.end());
  const double largest = sigma.size() > 0 ? sigma(0) : 0, frobenius = sigma.norm();
  s.scale = frobenius / std::sqrt(dim);
  s.angle_deg = std::acos(std::clamp(trace / (frobenius * std::sqrt(dim)), -1.0, 1.0)) * 180 /
                std::numbers::pi;
  if (!(largest > 0)) return s;
  s.stable_rank = frobenius * frobenius / (largest * largest);
  double entropy = 0;
  const double sum = sigma.sum();
  for (const double value : s.singular_values) {
    if (value > kTolerance * largest) ++s.numerical_rank;
    if (value > 0) entropy -= value / sum * std::log(value / sum);
  }
  s.effective_rank = std::exp(entropy);
  return s;
}

}  // namespace

Spectrum product_spectrum(Matrix<const double> a, Matrix<const double> b) {
  assert(a.rows == b.rows && a.cols == b.cols);
  const double trace = map(a).cwiseProduct(map(b)).sum(), dim = static_cast<double>(a.cols);
  if (a.rows >= a.cols) return spectrum_of(map(a).transpose() * map(b), trace, dim);
  return spectrum_of(triangle(a) * triangle(b).transpose(), trace, dim);
}

Spectrum matrix_spectrum(Matrix<const double> m) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const bool square = m.rows == m.cols;
  return spectrum_of(map(m), square ? map(m).trace() : kNone,
                     square ? static_cast<double>(m.rows) : kNone);
}

}  // namespace headroom
