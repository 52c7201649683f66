#include <numeric>
#include <vector>

#include "baselines/makers.h"
#include "core/linear_algebra.h"
#include "tasks/in_context.h"

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
    const std::size_t d = prompt.x.cols;
    Cholesky factor(d, lambda_);
    std::vector<double> moment(d);
    for (std::size_t k = 0; k < prompt.x.rows; ++k) {
      const std::vector<double> x(prompt.x.row(k), prompt.x.row(k) + d);
      if (k >= first) {
        std::vector<double> w = moment;
        factor.solve(w);
        output.data[k - first] =
            static_cast<float>(std::inner_product(w.begin(), w.end(), x.begin(), 0.0));
      }
      factor.add(x);
      for (std::size_t c = 0; c < d; ++c) moment[c] += double{prompt.y(k, 0)} * x[c];
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
