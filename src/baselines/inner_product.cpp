#include "tasks/inner_product.h"

#include <cmath>

#include "baselines/makers.h"
#include "tasks/points.h"

namespace headroom {

namespace {

// yhat = c sum_i <x_i, y> / sqrt(N), for by symmetry under rotations and permutations of the points
// no other form does better that is linear in the points and in the query.
class BilinearForm final : public Baseline {
 public:
  explicit BilinearForm(double c) : c_(c) {}

  void predict(std::size_t, View<const float, 2> input, View<const float, 2> query,
               View<float, 2> output) const override {
    const std::size_t n = input.dim(0), d = input.dim(1);
    const double factor = c_ / std::sqrt(static_cast<double>(n));
    for (std::size_t p = 0; p < query.dim(0); ++p) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) {
        sum += double{dot(input.data + i * d, query.data + p * d, d)};
      }
      output.data[p] = static_cast<float>(factor * sum);
    }
  }

 private:
  double c_;
};

class ExactInnerProduct final : public Baseline {
 public:
  explicit ExactInnerProduct(double a) : a_(a) {}
  void predict(std::size_t, View<const float, 2> input, View<const float, 2> query,
               View<float, 2> output) const override {
    answer_inner_products(a_, input, query, output);
  }

 private:
  double a_;
};

}  // namespace

// c = E t sin(a t) / E t^2 with t = <x, y>, in closed form: E t^2 = 1 / d, and E t sin(a t) is
// minus the derivative of E cos(a t), which is a / d times the same mean in d + 2 dimensions.
std::unique_ptr<Baseline> make_bilinear_form(const BaselineSetting& setting) {
  const TaskConfig& task = setting.task.config();
  return std::make_unique<BilinearForm>(task.frequency * mean_cosine(task.dim + 2, task.frequency));
}

std::unique_ptr<Baseline> make_exact_inner_product(const BaselineSetting& setting) {
  return std::make_unique<ExactInnerProduct>(setting.task.config().frequency);
}

}  // namespace headroom
