// Dense linear algebra in double, for what is solved beside training: baselines, constructions,
// spectra. Matrices are row-major. All run in the caller's thread and sum in one order, so that the
// same input gives the same bits. Sizes that do not fit together are asserted; what is not finite
// gives nan.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/view.h"

namespace headroom {

// The w (m) of least norm among those that minimise ||A w - b||_2, for A (n,m) of any rank and
// b (n). Householder QR with column pivoting (Businger, Golub 1965), and reflections from the right
// where A lacks rank (Golub, Van Loan, Matrix Computations, 5.5: a complete orthogonal
// decomposition). Columns whose remaining length is at most `tolerance` times the longest column
// count as dependent.
std::vector<double> least_squares(Matrix<const double> a, std::span<const double> b,
                                  double tolerance = 1e-13);

// The singular values of A (n,m), min(n,m) of them, falling; each to about 1e-15 of the largest,
// below which they are 0. Householder reflections from both sides leave two diagonals (Golub, Kahan
// 1965), whose singular values are found by bisection with Sturm's count.
std::vector<double> singular_values(Matrix<const double> a);

// L (n,n), row-major with zeros above its diagonal, of A = L Q with Q Q^T = I, for A (n,m), n <= m.
// By Householder reflections, so that its diagonal may be negative.
std::vector<double> lower_triangle(Matrix<const double> a);

// x (n) with A x = b for A (n,n) symmetric and positive semidefinite, of which the lower half is
// read, and b in its range: Cholesky with pivots from the diagonal (Higham, Accuracy and Stability,
// 10.3). Rows left when every pivot is below 1e-15 n of the largest depend on the others: their
// x is 0.
std::vector<double> solve_semidefinite(Matrix<const double> a, std::span<const double> b);

// L (n,n) with L L^T = A, for A symmetric and positive definite (else nan).
class Cholesky {
 public:
  explicit Cholesky(Matrix<const double> a);  // of which the lower half is read
  // The factor of value * I.
  Cholesky(std::size_t n, double value);

  // From here on the factor of A + x x^T, x (n), in n^2 steps (Gill et al. 1974).
  void add(std::span<const double> x);
  // b (n) <- A^-1 b.
  void solve(std::span<double> b) const;

 private:
  std::size_t n_;
  std::vector<double> l_;  // (n,n)
};

}  // namespace headroom
