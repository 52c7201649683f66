// Which attention patterns a head of a given rank can form (Bhojanapalli et al. 2020, Theorem 1:
// all of n tokens with keys of size n or more; science F). Tokens X and pattern P are fixed, so
// every item is the same; with values that are the tokens themselves the loss is ||(W - P) X||^2.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/linear_algebra.h"
#include "tasks/nearest_neighbor.h"
#include "tasks/tasks.h"

namespace headroom {

namespace {

// The solution R (n,d) of G R = X for G = X X^T of linearly independent rows X (n,d): then
// W = Y R^T for Y = W X.
std::vector<double> dual_basis(View<const float, 2> x) {
  const std::size_t n = x.dim(0), d = x.dim(1);
  std::vector<double> gram(n * n), r(n * d), column(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      for (std::size_t c = 0; c < d; ++c) gram[i * n + j] += double{x(i, c)} * double{x(j, c)};
  const Cholesky factor({gram.data(), n, n, n});
  for (std::size_t c = 0; c < d; ++c) {
    for (std::size_t i = 0; i < n; ++i) column[i] = x(i, c);
    factor.solve(column);
    for (std::size_t i = 0; i < n; ++i) r[i * d + c] = column[i];
  }
  return r;
}

class PatternFit final : public Task {
 public:
  explicit PatternFit(const TaskConfig& config)
      : Task(config), n_(config.points), x_(n_ * config.dim), y_(x_.size()), p_(n_ * n_) {
    Random random(config.instance, Purpose::kPool, 0, 0);
    fill_set(random, config, {x_.data(), {n_, config.dim}});
    dual_ = dual_basis(View<const float, 2>(x_.data(), {n_, config.dim}));
    for (std::size_t i = 0; i < n_; ++i) {
      // Uniform on the probability vectors: exponential variables by their sum.
      double sum = 0;
      for (std::size_t j = 0; j < n_; ++j) sum += p_[i * n_ + j] = -std::log1p(-random.uniform());
      for (std::size_t j = 0; j < n_; ++j) p_[i * n_ + j] /= sum;
      for (std::size_t c = 0; c < config.dim; ++c) {
        double y = 0;
        for (std::size_t j = 0; j < n_; ++j) y += p_[i * n_ + j] * double{x_[j * config.dim + c]};
        y_[i * config.dim + c] = static_cast<float>(y);
      }
    }
  }

  TaskShape shape(Stage) const override {
    return {.tokens = n_, .input_dim = config_.dim, .predictions = n_, .output_dim = config_.dim};
  }

  void draw(Draws, Stage, View<float, 2> input, View<float, 2>,
            View<float, 2> target) const override {
    std::copy(x_.begin(), x_.end(), input.data);
    std::copy(y_.begin(), y_.end(), target.data);
  }

  std::vector<std::string> metric_names() const override { return {"kl"}; }

  // The mean over rows of sum_j P_ij log(P_ij / W_ij), W being what the output holds of each token;
  // a share below 1e-12 counts as that.
  void metrics(Stage, View<const float, 2>, View<const float, 2>, View<const float, 2> output,
               std::span<double> out) const override {
    double kl = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) {
        double w = 0;
        for (std::size_t c = 0; c < config_.dim; ++c)
          w += double{output(i, c)} * dual_[j * config_.dim + c];
        const double p = p_[i * n_ + j];
        if (p > 0) kl += p * std::log(p / std::max(w, 1e-12));
      }
    }
    out[0] = kl / static_cast<double>(n_);
  }

  double position_scale() const override { return 0; }
  std::vector<std::string> train_columns() const override { return {}; }
  std::vector<double> train_values(Stage) const override { return {}; }

 private:
  std::size_t n_;
  std::vector<float> x_, y_;      // (n,d), (n,d): the tokens, the answers P X
  std::vector<double> p_, dual_;  // (n,n) the pattern, (n,d)
};

}  // namespace

std::unique_ptr<Task> make_pattern_fit(const TaskConfig& config) {
  return std::make_unique<PatternFit>(config);
}

}  // namespace headroom
