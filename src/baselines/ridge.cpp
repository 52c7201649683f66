#include <Eigen/Dense>

#include "baselines/examples.h"
#include "baselines/makers.h"

namespace headroom {

namespace {

// At position k the w that minimises sum_{i<k} (<w, x_i> - y_i)^2 + lambda ||w||^2. The Cholesky
// factor of X^T X + lambda I takes in one example a position.
class Ridge final : public Baseline {
 public:
  explicit Ridge(double lambda) : lambda_(lambda) {}

  void predict(std::size_t, View<const float, 2> input, View<const float, 2>,
               View<float, 2> output) const override {
    const Prompt prompt = read_prompt(input);
    const std::size_t first = first_asked(prompt, output);
    const auto d = static_cast<Eigen::Index>(prompt.x.cols);
    Eigen::LLT<Eigen::MatrixXd> factor(lambda_ * Eigen::MatrixXd::Identity(d, d));
    Eigen::VectorXd moment = Eigen::VectorXd::Zero(d);
    for (std::size_t k = 0; k < prompt.x.rows; ++k) {
      const Eigen::VectorXd x = x_of(prompt, k);
      if (k >= first) output.data[k - first] = static_cast<float>(factor.solve(moment).dot(x));
      factor.rankUpdate(x);
      moment += double{prompt.y(k, 0)} * x;
    }
  }

 private:
  double lambda_;
};

}  // namespace

std::unique_ptr<Baseline> make_ridge(const BaselineSetting& setting) {
  return std::make_unique<Ridge>(setting.value);
}

// For y = <w, x> + sigma N(0, 1) with w ~ N(0, tau^2 I) the posterior mean of y is ridge regression
// with lambda = sigma^2 / tau^2 (science D.4); tau = 1 here. Without noise that is least squares.
std::unique_ptr<Baseline> make_ridge_optimal(const BaselineSetting& setting) {
  const double sigma = setting.task.config().noise;
  if (sigma == 0) return make_least_squares(setting);
  return std::make_unique<Ridge>(sigma * sigma);
}

}  // namespace headroom
