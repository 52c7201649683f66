#include <algorithm>

#include "baselines/makers.h"

namespace headroom {

namespace {

class Zero final : public Baseline {
  void predict(std::size_t, View<const float, 2>, View<const float, 2>,
               View<float, 2> output) const override {
    std::ranges::fill(output.flat(), 0.0f);
  }
};

}  // namespace

std::unique_ptr<Baseline> make_zero(const BaselineSetting&) { return std::make_unique<Zero>(); }

}  // namespace headroom
