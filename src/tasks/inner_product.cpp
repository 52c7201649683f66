#include "tasks/inner_product.h"

#include <cmath>

#include "tasks/points.h"
#include "tasks/score.h"
#include "tasks/tasks.h"

namespace headroom {

namespace {

class InnerProduct final : public Task {
 public:
  explicit InnerProduct(const TaskConfig& config) : Task(config) {}

  TaskShape shape(Stage) const override {
    const std::size_t queries = query_tokens(config_);
    return {.tokens = config_.points,
            .queries = queries,
            .input_dim = config_.dim,
            .predictions = queries,
            .output_dim = 1};
  }

  // Points and queries independent and uniform on the sphere.
  void draw(Draws draws, Stage, View<float, 2> input, View<float, 2> query,
            View<float, 2> target) const override {
    fill_sphere(draws.item, input);
    fill_sphere(draws.item, query);
    answer_inner_products(config_.frequency, input, query, target);
  }

  // normalized_loss: the item's loss as a multiple of E y^2 = (1 - E cos(2 a <x, y>)) / 2, the
  // error of predicting 0: terms of different points are uncorrelated, for sin is odd.
  std::vector<std::string> metric_names() const override { return {"normalized_loss"}; }
  void metrics(Stage, View<const float, 2>, View<const float, 2> target,
               View<const float, 2> output, std::span<double> out) const override {
    out[0] = mean_squared_error(output, target) / mean_square_;
  }

  double position_scale() const override { return 0; }
  std::vector<std::string> train_columns() const override { return {}; }
  std::vector<double> train_values(Stage) const override { return {}; }

 private:
  double mean_square_ = (1 - mean_cosine(config_.dim, 2 * config_.frequency)) / 2;
};

}  // namespace

void answer_inner_products(double a, View<const float, 2> x, View<const float, 2> y,
                           View<float, 2> target) {
  const std::size_t n = x.dim(0), d = x.dim(1);
  for (std::size_t p = 0; p < y.dim(0); ++p) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      sum += std::sin(a * double{dot(x.data + i * d, y.data + p * d, d)});
    }
    target(p, std::size_t{0}) = static_cast<float>(sum / std::sqrt(static_cast<double>(n)));
  }
}

double mean_cosine(std::size_t dim, double a) {
  const double half = static_cast<double>(dim) / 2, q = a * a / 4;
  // The terms q^m / (m! half (half + 1) ...) stay below exp(q / half): alternating, they lose that
  // many digits.
  if (q <= 20 * half) {
    double term = 1, sum = 1;
    for (double m = 0; std::abs(term) > 1e-18 || m < q; ++m) {
      term *= -q / ((m + 1) * (half + m));
      sum += term;
    }
    return sum;
  }
  // Gamma(half) (2 / a)^(half - 1) J_{half - 1}(a). Where the order is above a it is below
  // exp(-20).
  if (half - 1 > a) return 0;
  const double log_factor = std::lgamma(half) - (half - 1) * std::log(a / 2);
  return std::exp(log_factor) * std::cyl_bessel_j(half - 1, a);
}

std::unique_ptr<Task> make_inner_product(const TaskConfig& config) {
  return std::make_unique<InnerProduct>(config);
}

}  // namespace headroom
