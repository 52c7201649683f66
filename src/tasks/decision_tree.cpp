// A full binary tree of `depth` questions "is x_c > 0?", c uniform over all d coordinates at every
// node, and leaves N(0, 1) (science D.1).
#include <array>

#include "tasks/in_context.h"
#include "tasks/tasks.h"

namespace headroom {

namespace {

class DecisionTree final : public InContextTask {
 public:
  explicit DecisionTree(const TaskConfig& config) : InContextTask(config) {}

 protected:
  // Node m asks before nodes 2m and 2m + 1; the root is 1.
  void answer(Random& random, Stage, View<const float, 2> x, std::span<float>,
              std::span<float> y) const override {
    constexpr std::size_t kMost = std::size_t{1} << kMaxTreeDepth;
    const std::size_t n_leaves = std::size_t{1} << config_.depth;
    std::array<std::uint32_t, kMost> coordinate;
    std::array<float, kMost> leaf;
    for (std::size_t m = 1; m < n_leaves; ++m) {
      coordinate[m] = random.below(static_cast<std::uint32_t>(config_.dim));
    }
    random.fill_normal(std::span(leaf).first(n_leaves));
    for (std::size_t i = 0; i < y.size(); ++i) {
      std::size_t m = 1;
      while (m < n_leaves) m = 2 * m + (x(i, coordinate[m]) > 0 ? 1 : 0);
      y[i] = leaf[m - n_leaves];
    }
  }
  double mean_square(const InputMoments&) const override { return 1; }
};

}  // namespace

std::unique_ptr<Task> make_decision_tree(const TaskConfig& config) {
  return std::make_unique<DecisionTree>(config);
}

}  // namespace headroom
