#include <algorithm>
#include <array>
#include <limits>

#include "baselines/makers.h"
#include "tasks/in_context.h"
#include "tasks/points.h"

namespace headroom {

namespace {

// The uniform mean of y over the kCount examples nearest by Euclidean distance, the earlier of
// equals; over all examples where there are fewer, 0 where there are none (science D.1).
template <std::size_t kCount>
class NearestExamples final : public Baseline {
  void predict(std::size_t, View<const float, 2> input, View<const float, 2>,
               View<float, 2> output) const override {
    const Prompt prompt = read_prompt(input);
    for (std::size_t k = 0; k < prompt.x.rows; ++k) output.data[k] = at(prompt, k);
  }

  static float at(const Prompt& prompt, std::size_t k) {
    struct Example {
      float distance = std::numeric_limits<float>::infinity();
      float y = 0;
    };
    std::array<Example, kCount + 1> nearest{};  // ascending; the last is where a newcomer starts
    for (std::size_t i = 0; i < k; ++i) {
      nearest[kCount] = {squared_distance(prompt.x.row(i), prompt.x.row(k), prompt.x.cols),
                         prompt.y(i, 0)};
      for (std::size_t r = kCount; r > 0 && nearest[r].distance < nearest[r - 1].distance; --r) {
        std::swap(nearest[r], nearest[r - 1]);
      }
    }
    const std::size_t n = std::min(k, kCount);
    double sum = 0;
    for (std::size_t r = 0; r < n; ++r) sum += nearest[r].y;
    return n > 0 ? static_cast<float>(sum / static_cast<double>(n)) : 0.0f;
  }
};

}  // namespace

std::unique_ptr<Baseline> make_nearest_3(const Task&, std::uint64_t) {
  return std::make_unique<NearestExamples<3>>();
}

}  // namespace headroom
