#include <Eigen/Core>

#include "baselines/makers.h"
#include "tasks/in_context.h"

namespace headroom {

namespace {

// w_hat = (1/k) sum_{i<k} y_i x_i (science D.1): one step of gradient descent from 0; 0 without
// examples.
class Averaging final : public Baseline {
  void predict(std::size_t, View<const float, 2> input, View<const float, 2>,
               View<float, 2> output) const override {
    const Prompt prompt = read_prompt(input);
    const std::size_t first = first_asked(prompt, output);
    const auto d = static_cast<Eigen::Index>(prompt.x.cols);
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(d);
    for (std::size_t k = 0; k < prompt.x.rows; ++k) {
      const Eigen::Map<const Eigen::VectorXf> x(prompt.x.row(k), d);
      const double count = k > 0 ? static_cast<double>(k) : 1.0;
      if (k >= first)
        output.data[k - first] = static_cast<float>(sum.dot(x.cast<double>()) / count);
      sum += double{prompt.y(k, 0)} * x.cast<double>();
    }
  }
};

}  // namespace

std::unique_ptr<Baseline> make_averaging(const BaselineSetting&) {
  return std::make_unique<Averaging>();
}

}  // namespace headroom
