#include <algorithm>
#include <numeric>
#include <vector>

#include "baselines/makers.h"
#include "core/linear_algebra.h"
#include "tasks/in_context.h"

namespace headroom {

namespace {

// At position k the w of least norm among those that minimise sum_{i<k} (<w, x_i> - y_i)^2; 0
// without examples. Examples may be dependent.
class LeastSquares final : public Baseline {
  void predict(std::size_t, View<const float, 2> input, View<const float, 2>,
               View<float, 2> output) const override {
    const Prompt prompt = read_prompt(input);
    const std::size_t n = prompt.x.rows, d = prompt.x.cols;
    std::vector<double> x, y;
    x.reserve(n * d);
    for (std::size_t i = 0; i < n; ++i) {
      x.insert(x.end(), prompt.x.row(i), prompt.x.row(i) + d);
      y.push_back(prompt.y(i, 0));
    }
    const std::size_t first = first_asked(prompt, output);
    output.data[0] = 0;
    for (std::size_t k = std::max<std::size_t>(first, 1); k < n; ++k) {
      const std::vector<double> w = least_squares({x.data(), k, d, d}, {y.data(), k});
      output.data[k - first] =
          static_cast<float>(std::inner_product(w.begin(), w.end(), x.data() + k * d, 0.0));
    }
  }
};

}  // namespace

std::unique_ptr<Baseline> make_least_squares(const BaselineSetting&) {
  return std::make_unique<LeastSquares>();
}

}  // namespace headroom
