#include "baselines/makers.h"

namespace headroom {

namespace {

// Every token gets the mean of all.
class Uniform final : public Baseline {
 public:
  void predict(std::size_t, View<const float, 2> input, View<const float, 2>,
               View<float, 2> output) const override {
    const std::size_t n = input.dim(0);
    for (std::size_t c = 0; c < input.dim(1); ++c) {
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += double{input(j, c)};
      for (std::size_t i = 0; i < output.dim(0); ++i)
        output(i, c) = static_cast<float>(sum / static_cast<double>(n));
    }
  }
};

}  // namespace

std::unique_ptr<Baseline> make_uniform(const BaselineSetting&) {
  return std::make_unique<Uniform>();
}

}  // namespace headroom
