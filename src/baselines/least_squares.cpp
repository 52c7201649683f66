#include <Eigen/Dense>
#include <algorithm>

#include "baselines/examples.h"
#include "baselines/makers.h"

namespace headroom {

namespace {

// At position k the w of least norm among those that minimise sum_{i<k} (<w, x_i> - y_i)^2; 0
// without examples. By a complete orthogonal decomposition, so that examples may be dependent.
class LeastSquares final : public Baseline {
  void predict(std::size_t, View<const float, 2> input, View<const float, 2>,
               View<float, 2> output) const override {
    const Prompt prompt = read_prompt(input);
    const auto n = static_cast<Eigen::Index>(prompt.x.rows);
    const auto d = static_cast<Eigen::Index>(prompt.x.cols);
    Eigen::MatrixXd x(n, d);
    Eigen::VectorXd y(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto row = static_cast<std::size_t>(i);
      x.row(i) = x_of(prompt, row);
      y(i) = prompt.y(row, 0);
    }
    const auto first = static_cast<Eigen::Index>(first_asked(prompt, output));
    output.data[0] = 0;
    for (Eigen::Index k = std::max<Eigen::Index>(first, 1); k < n; ++k) {
      const Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> examples(x.topRows(k));
      output.data[k - first] = static_cast<float>(x.row(k).dot(examples.solve(y.head(k))));
    }
  }
};

}  // namespace

std::unique_ptr<Baseline> make_least_squares(const BaselineSetting&) {
  return std::make_unique<LeastSquares>();
}

}  // namespace headroom
