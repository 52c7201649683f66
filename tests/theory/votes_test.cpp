// The rank-1 constructions against their formula, science's numbers and the bound.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/read.h"
#include "tasks/item.h"
#include "theory/bounds.h"
#include "theory/construction.h"
#include "theory/formulas.h"
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

Mean measured(const Construction& construction, std::size_t items, std::uint64_t seed = 0) {
  const auto task = make_task(construction.task());
  Evaluator evaluator(*task, seed, items, 64);
  Model<float> model(construction.model(), model_io(*task), 64, ModelUse::kAnswering);
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

// The mean over draws of the heads, each measured on items of its own.
Sample over_draws(const std::string& name, std::vector<std::string> sets) {
  Sample draws;
  sets.emplace_back();
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    sets.back() = "seed=" + std::to_string(seed);
    draws.add(measured(*built(name, sets), 60, seed).mean);
  }
  return draws;
}

TEST(Votes, AveragesOfAnyRankHaveTheirLoss) {
  for (const std::size_t dim : {6u, 16u})
    for (const std::size_t rank : {2u, 5u})
      for (const std::size_t heads : {1u, 7u, 64u}) {
        const Sample draws = over_draws(
            "random_average", {"dim=" + std::to_string(dim), "key_size=" + std::to_string(rank),
                               "heads=" + std::to_string(heads)});
        const double expected = average_vote_loss(dim, rank, heads);
        EXPECT_LT(draws.sigmas_from(expected), 4.5) << dim << " " << rank << " " << heads;
        EXPECT_NEAR(draws.mean(), expected, .03) << dim << " " << rank << " " << heads;
      }
}

TEST(Votes, TheFormulaOfAveragesIsThatOfRankOneAndVanishesAtFullRank) {
  for (const std::size_t dim : {2u, 5u, 16u}) {
    for (const std::size_t heads : {1u, 40u}) {
      double mean = 0;  // of the losses of drawn heads
      constexpr int kDraws = 20;
      for (int seed = 0; seed < kDraws; ++seed)
        mean += *built("random_average",
                       {"dim=" + std::to_string(dim), "heads=" + std::to_string(heads),
                        "seed=" + std::to_string(seed)})
                     ->expected_loss() /
                kDraws;
      EXPECT_NEAR(average_vote_loss(dim, 1, heads), mean, .02 + .2 / std::sqrt(heads * kDraws))
          << dim << " " << heads;
    }
    EXPECT_EQ(average_vote_loss(dim, dim, 3), 0);
    EXPECT_LT(average_vote_loss(dim + 1, dim, 3), average_vote_loss(dim + 1, 1, 3));
  }
  // Full rank is exact.
  const auto full = built("random_average", {"dim=8", "key_size=8", "heads=3"});
  EXPECT_LT(measured(*full, 100).mean, 1e-9);
  EXPECT_EQ(full->expected_loss(), 0);
}

TEST(Votes, TheMajorityHasItsLoss) {
  for (const std::size_t dim : {5u, 16u})
    for (const std::size_t heads : {1u, 2u, 15u, 16u, 101u}) {
      const Sample draws = over_draws(
          "majority_vote", {"dim=" + std::to_string(dim), "heads=" + std::to_string(heads)});
      const double expected = majority_vote_loss(dim, heads);
      EXPECT_LT(draws.sigmas_from(expected), 4.5) << dim << " " << heads;
      EXPECT_NEAR(draws.mean(), expected, .05) << dim << " " << heads;
    }
  // One vote, wrong with probability E theta / pi; two that differ leave it to the first point.
  EXPECT_NEAR(majority_vote_loss(2, 1), 0.5, 1e-6);
  EXPECT_NEAR(majority_vote_loss(2, 2), 0.5, 1e-6);
}

// Science A.7 (5).
TEST(Votes, TheMajorityReachesTheNumbersOfScience) {
  EXPECT_NEAR(majority_vote_loss(64, 101), .570, .02);
  EXPECT_NEAR(majority_vote_loss(64, 1001), .235, .02);
  EXPECT_NEAR(majority_vote_loss(64, 10001), .080, .005);
  for (const auto& [heads, loss] : {std::pair{"101", .570}, std::pair{"1001", .235}}) {
    const Mean mean = measured(*built("majority_vote", {std::string("heads=") + heads}), 250);
    EXPECT_NEAR(mean.mean, loss, .02) << heads;
  }
}

// Science A.8: the bound is below every construction it applies to.
TEST(Votes, StayAboveTheBound) {
  std::size_t compared = 0;
  for (const std::size_t dim : {5u, 8u, 16u, 64u})
    for (const std::size_t heads : {1u, 8u, 64u, 1024u}) {
      for (const std::size_t rank : {1u, 2u, 3u, 4u, 7u, 8u, 12u, 16u, 32u, 48u}) {
        if (rank > dim) continue;
        const auto c =
            built("random_average", {"dim=" + std::to_string(dim), "heads=" + std::to_string(heads),
                                     "key_size=" + std::to_string(rank)});
        const auto task = make_task(c->task());
        const auto layer = bounded_layer(c->task(), resolve(c->model(), model_io(*task)));
        ASSERT_TRUE(layer);
        EXPECT_EQ(layer->rank, rank);
        EXPECT_EQ(layer->heads, heads);
        EXPECT_LE(pair_lower_bound(dim, rank, heads), *c->expected_loss() + 1e-12)
            << dim << " " << rank << " " << heads;
        ++compared;
      }
      if (heads > 64) continue;
      const auto best = built("weighted_random",
                              {"dim=" + std::to_string(dim), "heads=" + std::to_string(heads)});
      EXPECT_LE(pair_lower_bound(dim, 1, heads), *best->expected_loss()) << dim << " " << heads;
    }
  EXPECT_GT(compared, 80u);
}

}  // namespace headroom::votes_test
