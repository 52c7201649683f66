#include "tasks/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "baselines/trained.h"
#include "core/parallel.h"
#include "tasks/baseline_scores.h"

namespace headroom::bootstrap_test {

// How often each of n items is drawn in each trial, asked for in parts of this size.
std::vector<std::vector<std::size_t>> counts_of(std::size_t n, std::size_t part) {
  std::vector<std::vector<std::size_t>> out(kBootstrapTrials);
  Bootstrap bootstrap(3, n);
  for (std::size_t first = 0; first < n; first += part) {
    const std::size_t count = std::min(part, n - first);
    const auto counts = bootstrap.next(count);
    for (std::size_t t = 0; t < kBootstrapTrials; ++t)
      for (std::size_t i = 0; i < count; ++i) out[t].push_back(counts(t, i));
  }
  return out;
}

TEST(Bootstrap, EachTrialDrawsAsManyAsThereAreWhateverTheParts) {
  for (const std::size_t n : {1u, 2u, 7u, 60u}) {
    const auto counts = counts_of(n, n);
    for (const auto& trial : counts) {
      std::size_t sum = 0;
      for (const std::size_t c : trial) sum += c;
      ASSERT_EQ(sum, n);
    }
    EXPECT_EQ(counts, counts_of(n, 3));
    const int before = threads();
    set_threads(before == 1 ? 3 : 1);
    EXPECT_EQ(counts, counts_of(n, 3));
    set_threads(before);
  }
}

// Counts of n draws among n items: mean 1, variance 1 - 1/n, and covariance -1/n between two items;
// the first, the last and those between alike.
TEST(Bootstrap, CountsAreMultinomial) {
  const std::size_t n = 12;
  const auto counts = counts_of(n, 5);
  const auto check = [&](std::size_t i, std::size_t j, double expected) {
    Sample product;
    for (const auto& trial : counts)
      product.add((static_cast<double>(trial[i]) - 1) * (static_cast<double>(trial[j]) - 1));
    EXPECT_LT(product.sigmas_from(expected), 5) << i << " " << j;
  };
  for (const std::size_t i : {0u, 4u, 11u}) {
    Sample mean;
    for (const auto& trial : counts) mean.add(static_cast<double>(trial[i]));
    EXPECT_LT(mean.sigmas_from(1), 5) << i;
    check(i, i, 1 - 1.0 / n);
  }
  check(0, 11, -1.0 / n);
  check(4, 5, -1.0 / n);
}

// For many items the interval is the mean -+ 1.645 standard errors.
TEST(Bootstrap, TheIntervalIsThatOfTheNormalDistribution) {
  const auto scores = *evaluate_baselines(*make_task(regression(3, 5)), 0, 3000,
                                          {.names = {"averaging"}, .intervals = true});
  const Score score = score_of(scores, "averaging");
  for (const Mean& mean : {score.loss, score.positions[0], score.metrics[0]}) {
    ASSERT_TRUE(mean.interval);
    EXPECT_NEAR(mean.interval->low, mean.mean - 1.645 * mean.sem, .2 * mean.sem);
    EXPECT_NEAR(mean.interval->high, mean.mean + 1.645 * mean.sem, .2 * mean.sem);
  }
}

TEST(Bootstrap, IntervalsChangeNoScoreAndNeedTwoItems) {
  const std::unique_ptr<Task> task = make_task(regression(3, 5));
  const auto with = *evaluate_baselines(*task, 0, 50, {.intervals = true}),
             without = *evaluate_baselines(*task, 0, 50);
  ASSERT_EQ(with.size(), without.size());
  for (std::size_t b = 0; b < with.size(); ++b) {
    EXPECT_EQ(with[b].score.loss.mean, without[b].score.loss.mean);
    EXPECT_EQ(with[b].score.loss.sem, without[b].score.loss.sem);
    EXPECT_FALSE(without[b].score.loss.interval);
  }
  const auto one = *evaluate_baselines(*task, 0, 1, {.intervals = true});
  for (const BaselineScore& row : one) EXPECT_FALSE(row.score.loss.interval);
}

TEST(NotTrained, IsALossThatIsNotBelowTheReferenceByTheNoise) {
  const Reference reference{"zero", {.mean = 1, .sem = .03}};
  const auto judged = [&](double mean, double sem) {
    return not_trained({.mean = mean, .sem = sem}, reference);
  };
  EXPECT_TRUE(judged(1.2, .04));
  EXPECT_TRUE(judged(.91, .04));  // two standard errors of the difference are .1
  EXPECT_FALSE(judged(.89, .04));
  EXPECT_TRUE(judged(std::nan(""), .04));
  const double unknown = std::nan("");
  EXPECT_FALSE(judged(.99, unknown));
  EXPECT_TRUE(judged(1, unknown));
}

TEST(NotTrained, TheReferenceIsTheTasksOwn) {
  const auto scores = evaluate(retrieval(4, 4), 20);
  const auto found = find_reference(TaskType::kNearestNeighbor, scores);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "best_linear_map");
  EXPECT_EQ(found->loss.mean, score_of(scores, "best_linear_map").loss.mean);
  EXPECT_FALSE(find_reference(TaskType::kNearestNeighbor, {}));
}

}  // namespace headroom::bootstrap_test
