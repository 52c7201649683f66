#include <algorithm>

#include "baselines/makers.h"
#include "core/rng.h"

namespace headroom {

namespace {

// For each point a uniformly random other one, for a query of its own a uniformly random point; a
// lone point returns itself.
class Chance final : public Baseline {
 public:
  explicit Chance(std::uint64_t seed) : seed_(seed) {}

  void predict(std::size_t item, View<const float, 2> input, View<const float, 2> query,
               View<float, 2> output) const override {
    Random random(seed_, Purpose::kBaseline, kChanceStep, item);
    const std::size_t n = input.dim(0), d = input.dim(1);
    for (std::size_t i = 0; i < output.dim(0); ++i) {
      std::size_t j = 0;
      if (!query.empty()) {
        j = random.below(static_cast<std::uint32_t>(n));
      } else if (n > 1) {
        j = random.below(static_cast<std::uint32_t>(n - 1));
        if (j >= i) ++j;
      }
      std::copy_n(input.data + j * d, d, output.data + i * d);
    }
  }

 private:
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Baseline> make_chance(const BaselineSetting& setting) {
  return std::make_unique<Chance>(setting.seed);
}

}  // namespace headroom
