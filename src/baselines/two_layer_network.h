// A small network fitted to one prompt's examples by Adam.
#pragma once

#include <Eigen/Core>
#include <cmath>

#include "core/rng.h"

namespace headroom {

// f(x) = <v, relu(W x + b)> + c. Parameters are one vector: W (hidden,d), column-major, b (hidden),
// v (hidden), c. A template so that tests can differentiate it in double.
template <class S>
class TwoLayerNetwork {
 public:
  using Vector = Eigen::Matrix<S, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;

  TwoLayerNetwork(Eigen::Index dim, Eigen::Index hidden)
      : dim_(dim), hidden_(hidden), parameters_(hidden * (dim + 2) + 1) {}

  // PyTorch's linear layers: weights and biases U(+-1 / sqrt(fan_in)).
  void draw(Random& random) {
    const S in = 1 / std::sqrt(static_cast<S>(dim_)), up = 1 / std::sqrt(static_cast<S>(hidden_));
    for (Eigen::Index i = 0; i < parameters_.size(); ++i) {
      const S bound = i < hidden_ * (dim_ + 1) ? in : up;
      parameters_(i) = static_cast<S>(random.uniform(-bound, bound));
    }
  }

  S value(const Vector& x) const {
    const Vector hidden = (weights() * x + bias()).cwiseMax(S{0});
    return output_weights().dot(hidden) + parameters_(parameters_.size() - 1);
  }

  // The mean of (f(x_i) - y_i)^2 over the columns of x (d,n), and its gradient.
  S loss_gradient(const Matrix& x, const Vector& y, Vector& gradient) {
    const S n = static_cast<S>(x.cols());
    hidden_values_.noalias() = weights() * x;
    hidden_values_.colwise() += bias();
    active_ = (hidden_values_.array() > 0).template cast<S>().matrix();
    hidden_values_.array() *= active_.array();
    const auto v = output_weights();
    const S c = parameters_(parameters_.size() - 1);
    residuals_ = hidden_values_.transpose() * v - y;
    residuals_.array() += c;
    const Vector back = residuals_ * (2 / n);
    gradient.resize(parameters_.size());
    gradient.segment(hidden_ * (dim_ + 1), hidden_).noalias() = hidden_values_ * back;
    gradient(gradient.size() - 1) = back.sum();
    active_.array() *= (v * back.transpose()).array();
    Eigen::Map<Matrix>(gradient.data(), hidden_, dim_).noalias() = active_ * x.transpose();
    gradient.segment(hidden_ * dim_, hidden_) = active_.rowwise().sum();
    return residuals_.squaredNorm() / n;
  }

  Vector& parameters() { return parameters_; }

 private:
  Eigen::Map<const Matrix> weights() const { return {parameters_.data(), hidden_, dim_}; }
  auto bias() const { return parameters_.segment(hidden_ * dim_, hidden_); }
  auto output_weights() const { return parameters_.segment(hidden_ * (dim_ + 1), hidden_); }

  Eigen::Index dim_, hidden_;
  Vector parameters_, residuals_;
  Matrix hidden_values_, active_;
};

}  // namespace headroom
