// The examples of an in-context prompt as matrices, for the linear algebra of the tests.
#pragma once

#include <Eigen/Dense>

#include "tasks/in_context.h"

namespace headroom {

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
  // The w of least squares with x w = y.
  Eigen::VectorXd fitted() const { return x.colPivHouseholderQr().solve(y); }
};

}  // namespace headroom
