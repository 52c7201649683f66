#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "baselines/examples.h"
#include "baselines/makers.h"

namespace headroom {

namespace {

constexpr std::size_t kMostSweeps = 100'000;  // as Garg et al.
constexpr double kTolerance = 1e-8;           // of the optimality conditions, times the largest |c|

double shrunk(double value, double by) {
  return value > by ? value - by : value < -by ? value + by : 0.0;
}

// At position k the w that minimises ||y - X w||^2 / (2 k) + alpha ||w||_1 without an intercept, by
// coordinate descent from the w of the position before. With G = X^T X / k and c = X^T y / k the
// conditions of the optimum are c - G w = alpha sign(w) where w is not 0, |c - G w| <= alpha where
// it is.
class Lasso final : public Baseline {
 public:
  Lasso(double alpha, Stop stop) : alpha_(alpha), stop_(std::move(stop)) {}

  void predict(std::size_t, View<const float, 2> input, View<const float, 2>,
               View<float, 2> output) const override {
    const Prompt prompt = read_prompt(input);
    const std::size_t first = first_asked(prompt, output);
    ExampleSums sums(prompt.x.cols);
    Eigen::VectorXd w = Eigen::VectorXd::Zero(sums.moment.size());
    for (std::size_t k = 0; k < prompt.x.rows; ++k) {
      if (k > 0 && k >= first && !asked_to_stop(stop_)) {
        const double count = static_cast<double>(k);
        descend(sums.gram / count, sums.moment / count, w);
      }
      const Eigen::VectorXd x = x_of(prompt, k);
      if (k >= first) output.data[k - first] = static_cast<float>(w.dot(x));
      sums.add(x, prompt.y(k, 0));
    }
  }

 private:
  void descend(const Eigen::MatrixXd& gram, const Eigen::VectorXd& c, Eigen::VectorXd& w) const {
    const double enough = kTolerance * c.cwiseAbs().maxCoeff();
    Eigen::VectorXd residual = c - gram * w;
    for (std::size_t sweep = 0; sweep < kMostSweeps && excess(residual, w) > enough; ++sweep) {
      for (Eigen::Index j = 0; j < w.size(); ++j) {
        const double curvature = gram(j, j);
        if (curvature <= 0) continue;
        const double next = shrunk(residual(j) + curvature * w(j), alpha_) / curvature;
        const double change = next - w(j);
        if (change == 0) continue;
        residual -= change * gram.col(j);
        w(j) = next;
      }
    }
  }

  // By how much the conditions of the optimum fail.
  double excess(const Eigen::VectorXd& residual, const Eigen::VectorXd& w) const {
    double worst = 0;
    for (Eigen::Index j = 0; j < w.size(); ++j) {
      const double r = residual(j);
      const double off =
          w(j) == 0 ? std::abs(r) - alpha_ : std::abs(r - std::copysign(alpha_, w(j)));
      worst = std::max(worst, off);
    }
    return worst;
  }

  double alpha_;
  Stop stop_;
};

}  // namespace

std::unique_ptr<Baseline> make_lasso(const BaselineSetting& setting) {
  return std::make_unique<Lasso>(setting.value, setting.stop);
}

}  // namespace headroom
