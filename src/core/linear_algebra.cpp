#include "core/linear_algebra.h"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cassert>
#include <limits>

namespace headroom {

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Index index(std::size_t n) { return static_cast<Eigen::Index>(n); }

Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>> map(Matrix<const double> m) {
  return {m.data, index(m.rows), index(m.cols), Eigen::OuterStride<>(index(m.stride))};
}
Eigen::Map<const Eigen::VectorXd> map(std::span<const double> v) {
  return {v.data(), index(v.size())};
}

std::vector<double> list(const Eigen::VectorXd& v) { return {v.data(), v.data() + v.size()}; }

std::vector<double> not_numbers(std::size_t n) {
  return std::vector<double>(n, std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

std::vector<double> least_squares(Matrix<const double> a, std::span<const double> b,
                                  double tolerance) {
  assert(b.size() == a.rows);
  if (!map(a).allFinite()) return not_numbers(a.cols);
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver;
  solver.setThreshold(tolerance);
  solver.compute(map(a));
  return list(solver.solve(map(b)));
}

std::vector<double> singular_values(Matrix<const double> a) {
  const std::size_t n = std::min(a.rows, a.cols);
  if (n == 0) return {};
  if (!map(a).allFinite()) return not_numbers(n);
  return list(Eigen::JacobiSVD<Eigen::MatrixXd>(map(a)).singularValues());
}

std::vector<double> lower_triangle(Matrix<const double> a) {
  assert(a.rows <= a.cols);
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(map(a).transpose());
  std::vector<double> l(a.rows * a.rows);
  Eigen::Map<RowMajor> to(l.data(), index(a.rows), index(a.rows));
  to = qr.matrixQR().topRows(index(a.rows)).triangularView<Eigen::Upper>().transpose();
  return l;
}

std::vector<double> solve_definite(Matrix<const double> a, std::span<const double> b) {
  assert(a.rows == a.cols && b.size() == a.rows);
  return list(Eigen::LDLT<Eigen::MatrixXd>(map(a)).solve(map(b)));
}

struct Cholesky::Factor {
  Eigen::LLT<Eigen::MatrixXd> llt;
};

Cholesky::Cholesky(Matrix<const double> a)
    : factor_(new Factor{Eigen::LLT<Eigen::MatrixXd>(map(a))}) {
  assert(a.rows == a.cols);
}

Cholesky::Cholesky(std::size_t n, double value)
    : factor_(new Factor{
          Eigen::LLT<Eigen::MatrixXd>(value * Eigen::MatrixXd::Identity(index(n), index(n)))}) {}

Cholesky::~Cholesky() = default;

void Cholesky::add(std::span<const double> x) {
  assert(index(x.size()) == factor_->llt.rows());
  factor_->llt.rankUpdate(map(x), 1.0);
}

void Cholesky::solve(std::span<double> b) const {
  assert(index(b.size()) == factor_->llt.rows());
  Eigen::Map<Eigen::VectorXd> x(b.data(), index(b.size()));
  if (factor_->llt.info() == Eigen::Success)
    factor_->llt.solveInPlace(x);
  else
    x.setConstant(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace headroom
