#include "core/linear_algebra.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace headroom {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// In eight sums, which fill a vector register.
double dot(const double* x, const double* y, std::size_t n) {
  double sums[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (std::size_t k = 0; k < 8; ++k) sums[k] += x[i + k] * y[i + k];
  for (std::size_t k = 0; i + k < n; ++k) sums[k] += x[i + k] * y[i + k];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

// y += factor x
void add_multiple(double* y, double factor, const double* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

// A matrix and the memory it lies in.
struct Dense {
  std::vector<double> memory;
  Matrix<double> m;

  Dense(std::size_t rows, std::size_t cols) : memory(rows * cols) {
    m = {memory.data(), rows, cols, cols};
  }
  explicit Dense(Matrix<const double> a) : Dense(a.rows, a.cols) {
    for (std::size_t i = 0; i < a.rows; ++i) std::copy_n(a.row(i), a.cols, m.row(i));
  }
};

Matrix<double> from(Matrix<double> a, std::size_t row, std::size_t col) {
  return a.row_range(row, a.rows - row).col_range(col, a.cols - col);
}

// Householder's reflection I - v v^T that takes x to (alpha, 0, ...): v in place of x, and alpha.
double reflection(std::span<double> x) {
  const double length = std::sqrt(dot(x.data(), x.data(), x.size()));
  if (length == 0) return 0;
  const double first = x[0], alpha = first > 0 ? -length : length;
  const double scale = 1 / std::sqrt(length * (length + std::abs(first)));
  x[0] -= alpha;
  for (double& value : x) value *= scale;
  return alpha;
}

// A <- (I - v v^T) A, v (rows); `work` holds cols numbers.
void reflect_from_left(Matrix<double> a, std::span<const double> v, std::vector<double>& work) {
  std::fill_n(work.begin(), a.cols, 0.0);
  for (std::size_t i = 0; i < a.rows; ++i) add_multiple(work.data(), v[i], a.row(i), a.cols);
  for (std::size_t i = 0; i < a.rows; ++i) add_multiple(a.row(i), -v[i], work.data(), a.cols);
}

// A <- A (I - v v^T), v (cols).
void reflect_from_right(Matrix<double> a, std::span<const double> v) {
  for (std::size_t i = 0; i < a.rows; ++i)
    add_multiple(a.row(i), -dot(a.row(i), v.data(), a.cols), v.data(), a.cols);
}

std::vector<double> column(Matrix<const double> a, std::size_t col, std::size_t first_row) {
  std::vector<double> x;
  x.reserve(a.rows - first_row);
  for (std::size_t i = first_row; i < a.rows; ++i) x.push_back(a(i, col));
  return x;
}

// Takes A (n,m+1), whose last column is b, to Q^T A with the columns of R in the order of their
// pivots; the rank, and whence each column came.
std::size_t pivoted_qr(Matrix<double> a, std::vector<std::size_t>& order, double tolerance) {
  const std::size_t n = a.rows, m = a.cols - 1;
  std::vector<double> work(m + 1);
  double longest = 0;
  std::size_t k = 0;
  for (; k < std::min(n, m); ++k) {
    std::fill(work.begin(), work.end(), 0.0);  // squared lengths of what is left
    for (std::size_t i = k; i < n; ++i)
      for (std::size_t j = k; j < m; ++j) work[j] += a(i, j) * a(i, j);
    const auto first = work.begin() + static_cast<std::ptrdiff_t>(k);
    const auto best =
        static_cast<std::size_t>(std::max_element(first, work.end() - 1) - work.begin());
    const double length = std::sqrt(work[best]);
    if (k == 0) longest = length;
    if (length <= tolerance * longest) break;
    std::swap(order[k], order[best]);
    for (std::size_t i = 0; i < n; ++i) std::swap(a(i, k), a(i, best));
    std::vector<double> v = column(a, k, k);
    a(k, k) = reflection(v);
    reflect_from_left(from(a, k, k + 1), v, work);
  }
  return k;
}

bool all_finite(Matrix<const double> a) {
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < a.cols; ++j)
      if (!std::isfinite(a(i, j))) return false;
  return true;
}

// How many singular values of the upper bidiagonal matrix with these squared entries (d_0, e_0,
// d_1, ..., d_(m-1)) are below x > 0. They and their negatives are the eigenvalues of the
// tridiagonal matrix with a zero diagonal and these entries beside it; as many pivots of its LDL^T
// less x are negative as it has eigenvalues below x (Sylvester).
std::size_t count_below(const std::vector<double>& squares, double x) {
  constexpr double kTiny = std::numeric_limits<double>::min();
  double pivot = -x;
  std::size_t negative = 1;
  for (const double square : squares) {
    pivot = -x - square / pivot;
    if (std::abs(pivot) < kTiny) pivot = -kTiny;
    negative += pivot < 0 ? 1 : 0;
  }
  return negative - (squares.size() + 1) / 2;
}

// d_0, e_0, d_1, ...: A (n,m), n >= m, in bidiagonal form; A is used up.
std::vector<double> bidiagonal(Matrix<double> a) {
  std::vector<double> work(a.cols), entries;
  for (std::size_t k = 0; k < a.cols; ++k) {
    std::vector<double> v = column(a, k, k);
    entries.push_back(reflection(v));
    if (k + 1 == a.cols) break;
    reflect_from_left(from(a, k, k + 1), v, work);
    const std::span<double> row(a.row(k) + k + 1, a.cols - k - 1);
    entries.push_back(reflection(row));
    reflect_from_right(from(a, k + 1, k + 1), row);
  }
  return entries;
}

// b <- L^-1 b and b <- L^-T b for the first n rows of L.
void solve_lower(Matrix<const double> l, std::size_t n, std::span<double> b) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= l(i, k) * b[k];
    b[i] /= l(i, i);
  }
}
void solve_upper(Matrix<const double> l, std::size_t n, std::span<double> b) {
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= l(k, i) * b[k];
    b[i] /= l(i, i);
  }
}

}  // namespace

std::vector<double> least_squares(Matrix<const double> a, std::span<const double> b,
                                  double tolerance) {
  assert(b.size() == a.rows);
  const std::size_t n = a.rows, m = a.cols;
  Dense both(n, m + 1);
  for (std::size_t i = 0; i < n; ++i) {
    std::copy_n(a.row(i), m, both.m.row(i));
    both.m(i, m) = b[i];
  }
  std::vector<std::size_t> order(m);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const Matrix<double> r = both.m;
  const std::size_t rank = pivoted_qr(r, order, tolerance);

  // R = T H_0 ... H_(rank-1) with T upper triangular: H_i clears row i beyond the rank. It touches
  // entry i and those beyond the rank.
  const std::size_t beyond = m - rank;
  Dense v(rank, beyond + 1);
  for (std::size_t i = beyond == 0 ? 0 : rank; i-- > 0;) {
    const std::span<double> vi(v.m.row(i), beyond + 1);
    vi[0] = r(i, i);
    std::copy_n(r.row(i) + rank, beyond, vi.begin() + 1);
    r(i, i) = reflection(vi);
    for (std::size_t above = 0; above < i; ++above) {
      double* tail = r.row(above) + rank;
      const double along = vi[0] * r(above, i) + dot(tail, &vi[1], beyond);
      r(above, i) -= along * vi[0];
      add_multiple(tail, -along, &vi[1], beyond);
    }
  }
  std::vector<double> w(m), in_order(m);
  for (std::size_t i = rank; i-- > 0;) {
    const double known = dot(r.row(i) + i + 1, &in_order[i] + 1, rank - i - 1);
    in_order[i] = (r(i, m) - known) / r(i, i);
  }
  for (std::size_t i = 0; i < rank && beyond > 0; ++i) {
    const double* vi = v.m.row(i);
    double* tail = &in_order[rank];
    const double along = vi[0] * in_order[i] + dot(tail, vi + 1, beyond);
    in_order[i] -= along * vi[0];
    add_multiple(tail, -along, vi + 1, beyond);
  }
  for (std::size_t j = 0; j < m; ++j) w[order[j]] = in_order[j];
  return w;
}

std::vector<double> singular_values(Matrix<const double> a) {
  const std::size_t size = std::min(a.rows, a.cols);
  if (!all_finite(a)) return std::vector<double>(size, std::numeric_limits<double>::quiet_NaN());
  Dense upright(std::max(a.rows, a.cols), size);
  double largest = 0;
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < a.cols; ++j) {
      (a.rows >= a.cols ? upright.m(i, j) : upright.m(j, i)) = a(i, j);
      largest = std::max(largest, std::abs(a(i, j)));
    }
  }
  std::vector<double> values(size);
  if (largest == 0) return values;
  for (double& value : upright.memory)
    value /= largest;  // whose squares neither overflow nor vanish
  std::vector<double> squares = bidiagonal(upright.m);
  double bound = 0, before = 0;  // at least the norm, by Gershgorin
  for (double& entry : squares) {
    bound = std::max(bound, before + std::abs(entry));
    before = std::abs(entry);
    entry *= entry;
  }
  bound *= 1 + 4 * kEpsilon;
  double high = bound;
  for (std::size_t k = 0; k < size; ++k) {
    const std::size_t below = size - 1 - k;  // as many are below value k
    double low = 0;
    while (high - low > kEpsilon * std::max(high, bound / 4)) {
      const double middle = low + (high - low) / 2;
      (count_below(squares, middle) > below ? high : low) = middle;
    }
    values[k] = low == 0 ? 0 : largest * (low + (high - low) / 2);
  }
  return values;
}

std::vector<double> lower_triangle(Matrix<const double> a) {
  assert(a.rows <= a.cols);
  Dense work(a);
  Dense l(a.rows, a.rows);
  for (std::size_t k = 0; k < a.rows; ++k) {
    const std::span<double> row(work.m.row(k) + k, a.cols - k);
    std::copy_n(work.m.row(k), k, l.m.row(k));
    l.m(k, k) = reflection(row);
    reflect_from_right(from(work.m, k + 1, k), row);
  }
  return std::move(l.memory);
}

std::vector<double> solve_semidefinite(Matrix<const double> a, std::span<const double> b) {
  assert(a.rows == a.cols && b.size() == a.rows);
  const std::size_t n = a.rows;
  Dense l(n, n);
  std::vector<std::size_t> order(n);  // row i of L is row order[i] of A
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> left(n);  // of the diagonal, by row of L
  for (std::size_t i = 0; i < n; ++i) left[i] = a(i, i);
  const double enough =
      n == 0 ? 0 : 1e-15 * static_cast<double>(n) * *std::max_element(left.begin(), left.end());
  std::size_t rank = 0;
  for (; rank < n; ++rank) {
    const auto first = left.begin() + static_cast<std::ptrdiff_t>(rank);
    const auto best = static_cast<std::size_t>(std::max_element(first, left.end()) - left.begin());
    if (left[best] <= enough) break;
    std::swap(order[rank], order[best]);
    std::swap(left[rank], left[best]);
    std::swap_ranges(l.m.row(rank), l.m.row(rank) + rank, l.m.row(best));
    const double* pivot = l.m.row(rank);
    l.m(rank, rank) = std::sqrt(left[rank]);
    for (std::size_t i = rank + 1; i < n; ++i) {
      const auto [low, high] = std::minmax(order[i], order[rank]);
      double* row = l.m.row(i);
      row[rank] = (a(high, low) - dot(row, pivot, rank)) / pivot[rank];
      left[i] -= row[rank] * row[rank];
    }
  }
  std::vector<double> x(n), in_order(rank);
  for (std::size_t i = 0; i < rank; ++i) in_order[i] = b[order[i]];
  solve_lower(l.m, rank, in_order);
  solve_upper(l.m, rank, in_order);
  for (std::size_t i = 0; i < rank; ++i) x[order[i]] = in_order[i];
  return x;
}

Cholesky::Cholesky(Matrix<const double> a) : n_(a.rows), l_(n_ * n_) {
  assert(a.rows == a.cols);
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a(i, j);
      for (std::size_t k = 0; k < j; ++k) sum -= l_[i * n_ + k] * l_[j * n_ + k];
      l_[i * n_ + j] = i == j ? std::sqrt(sum) : sum / l_[j * n_ + j];
    }
  }
}

Cholesky::Cholesky(std::size_t n, double value) : n_(n), l_(n * n) {
  for (std::size_t i = 0; i < n; ++i) l_[i * n + i] = std::sqrt(value);
}

void Cholesky::add(std::span<const double> x) {
  assert(x.size() == n_);
  std::vector<double> rest(x.begin(), x.end());
  for (std::size_t j = 0; j < n_; ++j) {
    // A rotation of column j and the rest that makes the rest's entry j vanish.
    const double old = l_[j * n_ + j], now = std::hypot(old, rest[j]);
    const double c = old / now, s = rest[j] / now;
    l_[j * n_ + j] = now;
    for (std::size_t i = j + 1; i < n_; ++i) {
      const double entry = l_[i * n_ + j];
      l_[i * n_ + j] = c * entry + s * rest[i];
      rest[i] = c * rest[i] - s * entry;
    }
  }
}

void Cholesky::solve(std::span<double> b) const {
  assert(b.size() == n_);
  const Matrix<const double> l(l_.data(), n_, n_, n_);
  solve_lower(l, n_, b);
  solve_upper(l, n_, b);
}

}  // namespace headroom
