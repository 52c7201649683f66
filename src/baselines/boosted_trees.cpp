#include "baselines/makers.h"
#include "baselines/regression_tree.h"
#include "tasks/in_context.h"

namespace headroom {

namespace {

// Gradient boosting of the squared error as Garg et al. use XGBoost (Chen and Guestrin 2016): 50
// trees of depth 4 at rate .1, otherwise that library's settings at the time: predictions start at
// .5, lambda = 1, a split needs a gain above 1e-6, exact search.
constexpr std::size_t kTrees = 50, kDepth = 4;
constexpr double kRate = 0.1, kLambda = 1, kStart = 0.5, kLeastGain = 1e-6;

class BoostedTrees final : public Baseline {
 public:
  explicit BoostedTrees(Stop stop) : stop_(std::move(stop)) {}

  void predict(std::size_t, View<const float, 2> input, View<const float, 2>,
               View<float, 2> output) const override {
    const Prompt prompt = read_prompt(input);
    const std::size_t n = prompt.x.rows;
    const std::size_t first = first_asked(prompt, output);
    SortedExamples examples(prompt.x.cols, n);
    std::vector<double> y;
    for (std::size_t k = 0; k < n; ++k) {
      if (k >= first) output.data[k - first] = 0;
      if (k > 0 && k >= first && !asked_to_stop(stop_)) {
        Boosting boosting{
            .grower = TreeGrower(examples, kLambda), .residuals = y, .x = prompt.x.row(k)};
        for (std::size_t tree = 0; tree < kTrees; ++tree) {
          boosting.grow(boosting.grower.root(), kDepth, true);
        }
        output.data[k - first] = static_cast<float>(boosting.prediction);
      }
      examples.add(prompt.x.row(k));
      y.push_back(double{prompt.y(k, 0)} - kStart);
    }
  }

 private:
  struct Boosting {
    TreeGrower grower;
    std::vector<double> residuals;  // of the trees so far
    const float* x;                 // the point asked for
    double prediction = kStart;

    // `asked`: x is in this node.
    void grow(Node node, std::size_t depth, bool asked) {
      const std::optional<Split> split =
          depth > 0 && node.size() > 1 ? grower.best_split(node, residuals) : std::nullopt;
      if (split && split->gain > kLeastGain) {
        const TreeGrower::Parts parts = grower.divide(node, *split, depth == 1);
        const bool low = x[split->coordinate] <= split->threshold;
        grow(parts.low, depth - 1, asked && low);
        grow(parts.high, depth - 1, asked && !low);
        return;
      }
      double sum = 0;
      grower.for_members(node, [&](std::uint32_t i) { sum += residuals[i]; });
      const double leaf = kRate * sum / (static_cast<double>(node.size()) + kLambda);
      grower.for_members(node, [&](std::uint32_t i) { residuals[i] -= leaf; });
      if (asked) prediction += leaf;
    }
  };

  Stop stop_;
};

}  // namespace

std::unique_ptr<Baseline> make_boosted_trees(const BaselineSetting& setting) {
  return std::make_unique<BoostedTrees>(setting.stop);
}

}  // namespace headroom
