// Dense linear algebra in double, by Eigen, for what is solved beside training: baselines,
// constructions, spectra. The one place that compiles its decompositions. Matrices are row-major.
// All run in the caller's thread and sum in one order, so that the same input gives the same bits.
// Sizes that do not fit together are asserted; what is not finite gives nan.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/view.h"

namespace headroom {

// The w (m) of least norm among those that minimise ||A w - b||_2, for A (n,m) of any rank and
// b (n), by a complete orthogonal decomposition. Columns whose pivot is at most `tolerance` times
// the largest count as dependent.
std::vector<double> least_squares(Matrix<const double> a, std::span<const double> b,
                                  double tolerance = 1e-13);

// The singular values of A (n,m), min(n,m) of them, falling; by Jacobi's method.
std::vector<double> singular_values(Matrix<const double> a);

// L (n,n), row-major with zeros above its diagonal, of A = L Q with Q Q^T = I, for A (n,m), n <= m.
// By Householder reflections, so that its diagonal may be negative.
std::vector<double> lower_triangle(Matrix<const double> a);

// x (n) with A x = b for A (n,n) symmetric and positive definite, of which the lower half is read:
// Cholesky's L D L^T with pivots from the diagonal.
std::vector<double> solve_definite(Matrix<const double> a, std::span<const double> b);

// L L^T = A, for A (n,n) symmetric and positive definite (else what it solves is nan).
class Cholesky {
 public:
  explicit Cholesky(Matrix<const double> a);  // of which the lower half is read
  // The factor of value * I.
  Cholesky(std::size_t n, double value);
  ~Cholesky();
  Cholesky(const Cholesky&) = delete;
  Cholesky& operator=(const Cholesky&) = delete;

  // From here on the factor of A + x x^T, x (n), in about n^2 steps.
  void add(std::span<const double> x);
  // b (n) <- A^-1 b.
  void solve(std::span<double> b) const;

 private:
  struct Factor;
  std::unique_ptr<Factor> factor_;
};

}  // namespace headroom
