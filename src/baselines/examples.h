// The running sums of a prompt's examples that linear predictors work from.
#pragma once

#include <Eigen/Core>

#include "tasks/in_context.h"

namespace headroom {

inline Eigen::VectorXd x_of(const Prompt& prompt, std::size_t i) {
  const auto d = static_cast<Eigen::Index>(prompt.x.cols);
  return Eigen::Map<const Eigen::VectorXf>(prompt.x.row(i), d).cast<double>();
}

struct ExampleSums {
  std::size_t count = 0;   // k
  Eigen::MatrixXd gram;    // (d,d): sum_{i<k} x_i x_i^T, both halves
  Eigen::VectorXd moment;  // (d): sum_{i<k} y_i x_i

  explicit ExampleSums(std::size_t dim) {
    const auto d = static_cast<Eigen::Index>(dim);
    gram = Eigen::MatrixXd::Zero(d, d);
    moment = Eigen::VectorXd::Zero(d);
  }
  void add(const Eigen::VectorXd& x, double y) {
    ++count;
    gram.noalias() += x * x.transpose();
    moment += y * x;
  }
};

}  // namespace headroom
