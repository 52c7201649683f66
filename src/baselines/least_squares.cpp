#include <Eigen/Core>
#include <cmath>
#include <limits>

#include "baselines/examples.h"
#include "baselines/makers.h"

namespace headroom {

namespace {

// The w of least norm among those that minimise sum (<w, x_i> - y_i)^2 over the examples so far, 0
// without any: w = Q v with Q an orthonormal basis of the span of the x_i, found by Gram-Schmidt
// twice over, and v the solution of a triangular system, which takes in an example by Givens
// rotations (Golub and Van Loan, Matrix Computations, 6.5.3). An example in the span of the others
// but for rounding adds nothing to Q.
class LeastNorm {
 public:
  explicit LeastNorm(Eigen::Index dim)
      : basis_(dim, dim), system_(dim, dim), right_(dim), w_(Eigen::VectorXd::Zero(dim)) {}

  void add(const Eigen::VectorXd& x, double y) {
    const auto basis = basis_.leftCols(rank_);
    Eigen::VectorXd row = basis.transpose() * x, rest = x - basis * row;
    const Eigen::VectorXd again = basis.transpose() * rest;
    rest -= basis * again;
    row += again;
    const double length = rest.norm(), dim = static_cast<double>(x.size());
    if (rank_ < x.size() && length > 4 * dim * std::numeric_limits<double>::epsilon() * x.norm()) {
      basis_.col(rank_) = rest / length;
      system_.row(rank_).head(rank_) = row;
      system_(rank_, rank_) = length;
      right_(rank_) = y;
      ++rank_;
    } else {
      rotate_in(row, y);
    }
    w_.noalias() = basis_.leftCols(rank_) * system_.topLeftCorner(rank_, rank_)
                                                .triangularView<Eigen::Lower>()
                                                .solve(right_.head(rank_));
  }
  const Eigen::VectorXd& w() const { return w_; }

 private:
  // Unknown j stands in rows j, j + 1, ..., so a row is emptied from its last entry on.
  void rotate_in(Eigen::VectorXd& row, double y) {
    for (Eigen::Index j = rank_; j-- > 0;) {
      const double length = std::hypot(system_(j, j), row(j));
      const double cosine = system_(j, j) / length, sine = row(j) / length;
      for (Eigen::Index i = 0; i <= j; ++i) {
        const double there = system_(j, i);
        system_(j, i) = cosine * there + sine * row(i);
        row(i) = cosine * row(i) - sine * there;
      }
      const double there = right_(j);
      right_(j) = cosine * there + sine * y;
      y = cosine * y - sine * there;
    }
  }

  Eigen::Index rank_ = 0;
  Eigen::MatrixXd basis_;  // (d, rank): Q
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>
      system_;             // (rank, rank), lower triangular: of v, in the basis' coordinates
  Eigen::VectorXd right_;  // (rank)
  Eigen::VectorXd w_;      // (d)
};

class LeastSquares final : public Baseline {
  void predict(std::size_t, View<const float, 2> input, View<const float, 2>,
               View<float, 2> output) const override {
    const Prompt prompt = read_prompt(input);
    const std::size_t first = first_asked(prompt, output);
    LeastNorm examples(static_cast<Eigen::Index>(prompt.x.cols));
    for (std::size_t k = 0; k < prompt.x.rows; ++k) {
      const Eigen::VectorXd x = x_of(prompt, k);
      if (k >= first) output.data[k - first] = static_cast<float>(examples.w().dot(x));
      examples.add(x, double{prompt.y(k, 0)});
    }
  }
};

}  // namespace

std::unique_ptr<Baseline> make_least_squares(const BaselineSetting&) {
  return std::make_unique<LeastSquares>();
}

}  // namespace headroom
