#include <algorithm>
#include <limits>

#include "baselines/makers.h"
#include "baselines/regression_tree.h"
#include "tasks/in_context.h"

namespace headroom {

namespace {

// At position k a regression tree over the k examples, grown greedily by squared error until its
// leaves are pure or `depth` deep; 0 without examples. A greedy tree's upper part does not depend
// on what is below it, so that only the path of the one point asked for is grown.
class DecisionTree final : public Baseline {
 public:
  explicit DecisionTree(std::size_t depth) : depth_(depth) {}

  void predict(std::size_t, View<const float, 2> input, View<const float, 2>,
               View<float, 2> output) const override {
    const Prompt prompt = read_prompt(input);
    const std::size_t n = prompt.x.rows;
    const std::size_t first = first_asked(prompt, output);
    SortedExamples examples(prompt.x.cols, n);
    std::vector<double> y(n);
    for (std::size_t k = 0; k < n; ++k) {
      if (k >= first)
        output.data[k - first] =
            k == 0 ? 0.0f : static_cast<float>(answer(examples, prompt.x.row(k), y));
      examples.add(prompt.x.row(k));
      y[k] = prompt.y(k, 0);
    }
  }

 private:
  double answer(const SortedExamples& examples, const float* x, std::span<const double> y) const {
    TreeGrower grower(examples, 0);
    Node node = grower.root();
    for (std::size_t level = 0; level < depth_; ++level) {
      double least = std::numeric_limits<double>::infinity(), most = -least;
      grower.for_members(node, [&](std::uint32_t i) {
        least = std::min(least, y[i]);
        most = std::max(most, y[i]);
      });
      if (least == most) break;
      const std::optional<Split> split = grower.best_split(node, y);
      if (!split) break;
      const TreeGrower::Parts parts = grower.divide(node, *split);
      node = x[split->coordinate] <= split->threshold ? parts.low : parts.high;
    }
    double sum = 0;
    grower.for_members(node, [&](std::uint32_t i) { sum += y[i]; });
    return sum / static_cast<double>(node.size());
  }

  std::size_t depth_;
};

}  // namespace

std::unique_ptr<Baseline> make_tree(const BaselineSetting& setting) {
  return std::make_unique<DecisionTree>(static_cast<std::size_t>(setting.value));
}

std::unique_ptr<Baseline> make_whole_tree(const BaselineSetting&) {
  return std::make_unique<DecisionTree>(std::numeric_limits<std::size_t>::max());
}

}  // namespace headroom
