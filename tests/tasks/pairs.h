// The examples of an in-context prompt as matrices, for the linear algebra of the tests.
#pragma once

#include <Eigen/Core>

#include "core/linear_algebra.h"
#include "tasks/in_context.h"

namespace headroom {

// The w of least squares with x w = y.
inline Eigen::VectorXd fitted(const Eigen::MatrixXd& x, const Eigen::VectorXd& y) {
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = x;
  const auto n = static_cast<std::size_t>(x.rows()), d = static_cast<std::size_t>(x.cols());
  const std::vector<double> w = least_squares({rows.data(), n, d, d}, {y.data(), n});
  return Eigen::Map<const Eigen::VectorXd>(w.data(), x.cols());
}

struct Pairs {
  Eigen::MatrixXd x;
  Eigen::VectorXd y;
  explicit Pairs(View<const float, 2> input) {
    const Prompt prompt = read_prompt(input);
    x.resize(static_cast<Eigen::Index>(prompt.x.rows), static_cast<Eigen::Index>(prompt.x.cols));
    y.resize(x.rows());
    for (std::size_t i = 0; i < prompt.x.rows; ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      y(row) = prompt.y(i, 0);
      for (std::size_t c = 0; c < prompt.x.cols; ++c)
        x(row, static_cast<Eigen::Index>(c)) = prompt.x(i, c);
    }
  }
  Eigen::VectorXd fitted() const { return headroom::fitted(x, y); }
};

}  // namespace headroom
