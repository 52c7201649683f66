// The rank-1 constructions against their formula, science's numbers and the bound.
#include <gtest/gtest.h>

#include <memory>

#include "config/read.h"
#include "theory/bounds.h"
#include "theory/construction.h"
#include "train/evaluate.h"

namespace headroom::votes_test {

std::unique_ptr<Construction> built(const std::string& name, const std::vector<std::string>& sets) {
  for (const ConstructionRow& row : construction_rows()) {
    if (name != row.name) continue;
    std::unique_ptr<Construction> construction = row.make();
    Fields settings;
    construction->declare(settings);
    read_settings(settings, sets);
    return construction;
  }
  throw std::logic_error(name);
}

Mean measured(const Construction& construction, std::size_t items) {
  const auto task = make_task(construction.task());
  Evaluator evaluator(*task, 0, items, 64);
  Model<float> model(construction.model(), model_io(*task), 64, false);
  HandSet parameters(model.table(), model.params().flat());
  construction.set(parameters);
  parameters.finish();
  return evaluator.run(model)->loss;
}

TEST(Votes, MeasuredIsPredictedAndNeverBelowTheBound) {
  for (const char* name : {"random_average", "equal_spacing", "weighted_random"})
    for (const char* heads : {"1", "2", "7", "64"})
      for (const char* dim : {"dim=3", "dim=16"}) {
        std::vector<std::string> sets{std::string("heads=") + heads, "seed=5"};
        if (name != std::string("equal_spacing")) sets.emplace_back(dim);
        const auto construction = built(name, sets);
        const Mean loss = measured(*construction, 2000);
        EXPECT_NEAR(loss.mean, *construction->expected_loss(), 4 * loss.sem)
            << name << " " << heads << " " << dim;
        const std::size_t d = construction->task().dim;
        EXPECT_GE(loss.mean, pair_lower_bound(d, 1, std::stoul(heads)));
      }
}

TEST(Votes, TheOptimumIsThatOfScience) {  // A.5's note: the mean of many draws
  const auto mean = [](const char* dim, const char* heads) {
    double sum = 0;
    for (int draw = 0; draw < 20; ++draw)
      sum += *built("weighted_random", {std::string("dim=") + dim, std::string("heads=") + heads,
                                        "seed=" + std::to_string(draw)})
                  ->expected_loss();
    return sum / 20;
  };
  EXPECT_NEAR(mean("8", "64"), .303, .01);
  EXPECT_NEAR(mean("16", "64"), .385, .01);
  EXPECT_NEAR(mean("32", "64"), .437, .01);
  EXPECT_NEAR(mean("64", "64"), .470, .01);
  EXPECT_NEAR(mean("16", "256"), .262, .01);
}

TEST(Votes, EqualSpacingTendsToASixth) {
  EXPECT_NEAR(*built("equal_spacing", {"heads=500"})->expected_loss(), 1. / 6, 1e-3);
}

}  // namespace headroom::votes_test
