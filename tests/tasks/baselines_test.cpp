#include "baselines/baseline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include <vector>

#include "core/parallel.h"
#include "tasks/baseline_scores.h"
#include "tasks/in_context.h"

namespace headroom::baselines_test {

const std::vector<std::string> kDefault{"default"}, kAll{"all"};

TEST(Baselines, EachHasANameOfItsOwnAndASentence) {
  for (const auto& type : kTaskTypes) {
    std::set<std::string> names;
    for (const BaselineChoice& choice : choose_baselines(type.value, kAll)) {
      EXPECT_TRUE(names.insert(choice.name()).second) << choice.name();
      EXPECT_GT(std::string(choice.row->sentence).size(), 10u);
    }
    EXPECT_TRUE(names.contains("zero")) << type.name;
  }
}

// Science A.2.
TEST(Baselines, TheBestLinearMapMatchesTheTable) {
  const auto loss = [](std::size_t d, std::size_t n, std::size_t items) {
    return score_of(evaluate(retrieval(d, n), items, {"best_linear_map"}), "best_linear_map")
        .loss.mean;
  };
  EXPECT_NEAR(loss(16, 16, 5120), .770, .005);
  EXPECT_NEAR(loss(64, 16, 2000), .891, .005);
  EXPECT_NEAR(loss(64, 4, 5120), .660, .005);
}

TEST(Baselines, TheBestLinearMapOfOtherSets) {
  // Ties at random among n - 1 equals: b = 1 / (n - 1), loss 1 - 1 / (n - 1).
  const PointsFrom ortho = PointsFrom::kOrthonormal, antipodal = PointsFrom::kAntipodal;
  EXPECT_NEAR(
      score_of(evaluate(retrieval(8, 6, ortho), 1000, {"best_linear_map"}), "best_linear_map")
          .loss.mean,
      0.8, .005);
  // -x solves the antipodal set, though a and b cannot be told apart there.
  const Score solved = score_of(evaluate(retrieval(8, 6, antipodal), 200), "best_linear_map");
  EXPECT_LT(solved.loss.mean, 1e-10);
  EXPECT_EQ(solved.metrics[0].mean, 1);
  // The nearest point lies on the asker's side, so a linear map helps as it does for the farthest.
  const TaskConfig nearest = retrieval(16, 16, PointsFrom::kSphere, QueryMode::kSelfNearest);
  EXPECT_NEAR(score_of(evaluate(nearest, 5120, {"best_linear_map"}), "best_linear_map").loss.mean,
              .770, .005);
}

// No other a, b does better on a fresh stream, by more than the fit's own error.
TEST(Baselines, TheBestLinearMapIsAMinimum) {
  const std::unique_ptr<Task> task = make_task(retrieval(4, 5));
  const std::unique_ptr<Baseline> best = baseline(*task, "best_linear_map");
  const std::size_t n = 2000, size = 5 * 4;
  Items items(*task, n);
  sample_batch(*task, 3, Purpose::kTest, 0, 0, task->final_stage(), items.batch);
  double fitted = 0, self = 0, others = 0;
  std::vector<float> output(size);
  for (std::size_t i = 0; i < n; ++i) {
    best->predict(i, items.input(i), {}, {output.data(), {5, 4}});
    for (std::size_t p = 0; p < 5; ++p) {
      for (std::size_t c = 0; c < 4; ++c) {
        const double residual = double{output[p * 4 + c]} - double{items.target(i)(p, c)};
        double sum = 0;
        for (std::size_t j = 0; j < 5; ++j) sum += j == p ? 0.0 : double{items.input(i)(j, c)};
        fitted += residual * residual;
        self += residual * double{items.input(i)(p, c)};
        others += residual * sum;
      }
    }
  }
  // At the least-squares solution the residual is orthogonal to both regressors.
  EXPECT_LT(std::abs(self), .01 * fitted);
  EXPECT_LT(std::abs(others), .03 * fitted);
}

TEST(Baselines, ZeroScoresOneAndExactIsExact) {
  for (const PointsFrom from :
       {PointsFrom::kSphere, PointsFrom::kOrthonormal, PointsFrom::kAntipodal}) {
    for (const QueryMode query : {QueryMode::kSelfFarthest, QueryMode::kSelfNearest}) {
      const auto scores = evaluate(retrieval(10, 6, from, query), 300);
      EXPECT_NEAR(score_of(scores, "zero").loss.mean, 1, 1e-6);
      EXPECT_EQ(score_of(scores, "exact").loss.mean, 0);
      EXPECT_EQ(score_of(scores, "exact").metrics[0].mean, 1);
    }
  }
}

TEST(Baselines, ChanceIsAnotherPointWithEqualProbability) {
  const std::unique_ptr<Task> task = make_task(retrieval(6, 5));
  const std::unique_ptr<Baseline> chance = baseline(*task, "chance");
  Items items(*task, 1);
  sample_one(*task, 0, items);
  std::vector<std::vector<Sample>> hits(5, std::vector<Sample>(5));
  std::vector<float> output(30);
  for (std::size_t item = 0; item < 4000; ++item) {
    chance->predict(item, items.input(), {}, {output.data(), {5, 6}});
    for (std::size_t i = 0; i < 5; ++i) {
      for (std::size_t j = 0; j < 5; ++j) {
        const float* x = items.input().data + j * 6;
        hits[i][j].add(std::equal(x, x + 6, output.data() + i * 6) ? 1 : 0);
      }
    }
  }
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      if (i == j) {
        EXPECT_EQ(hits[i][j].mean(), 0);
      } else {
        EXPECT_LT(hits[i][j].sigmas_from(0.25), 5) << i << " " << j;
      }
    }
  }
  const Mean accuracy =
      score_of(evaluate(retrieval(16, 16), 2000, {"chance"}), "chance").metrics[0];
  EXPECT_NEAR(accuracy.mean, 1.0 / 15, 5 * accuracy.sem);
}

// Science D.1: after k examples least squares errs by max(0, 1 - k/d), averaging by (d + 1)/k, zero
// by 1.
TEST(Baselines, RegressionErrorsByPositionMatchTheClosedForms) {
  const std::size_t d = 5, n = 12;
  const auto scores = evaluate(regression(d, n), 8000, {"least_squares", "averaging", "zero"});
  const std::vector<Mean> ols = score_of(scores, "least_squares").positions,
                          averaging = score_of(scores, "averaging").positions,
                          zero = score_of(scores, "zero").positions;
  ASSERT_EQ(ols.size(), n);
  ASSERT_EQ(averaging.size(), n);
  ASSERT_EQ(zero.size(), n);
  for (std::size_t k = 0; k < n; ++k) {
    const double examples = static_cast<double>(k), dims = static_cast<double>(d);
    EXPECT_NEAR(zero[k].mean, 1, 5 * zero[k].sem) << k;
    EXPECT_LT(zero[k].sem, 0.05) << k;
    if (k < d) {
      EXPECT_NEAR(ols[k].mean, 1 - examples / dims, 5 * ols[k].sem) << k;
    } else {
      EXPECT_LT(ols[k].mean, 1e-6) << k;
    }
    if (k == 0) {
      EXPECT_EQ(averaging[k].mean, zero[k].mean);
    } else {
      EXPECT_NEAR(averaging[k].mean, (dims + 1) / examples, 5 * averaging[k].sem) << k;
    }
  }
}

// With noise and k > d + 1 examples least squares errs by sigma^2 (1 + d / (k - d - 1)) in the
// mean.
TEST(Baselines, LeastSquaresUnderNoise) {
  const std::size_t d = 3, n = 21;
  const double sigma = 2;
  const auto scores = evaluate(regression(d, n, sigma), 4000, {"least_squares"});
  const std::vector<Mean> ols = score_of(scores, "least_squares").positions;
  for (const std::size_t k : {8u, 12u, 20u}) {
    const double expected = sigma * sigma * (1 + 3.0 / static_cast<double>(k - d - 1)) / 3.0;
    EXPECT_NEAR(ols[k].mean, expected, 5 * ols[k].sem) << k;
    EXPECT_LT(ols[k].sem, .1 * expected) << k;
  }
}

// A prompt made by hand: x = (3, 4), (3, 4) again, (1, 0), (0, 2) with y = 10, 20, 7, -1.
class HandMade : public ::testing::Test {
 protected:
  std::vector<float> predict(const std::string& name) {
    float input[] = {3, 4, 10, 0, 3, 4, 20, 0, 1, 0, 7, 0, 0, 2, -1, 0};
    std::vector<float> output(4, -77);
    baseline(*make_task(regression(2, 4)), name)
        ->predict(0, {input, {8, 2}}, {}, {output.data(), {4, 1}});
    return output;
  }
};

TEST_F(HandMade, LeastSquaresTakesTheSolutionOfLeastNorm) {
  const std::vector<float> y = predict("least_squares");
  EXPECT_EQ(y[0], 0);
  EXPECT_NEAR(y[1], 10, 1e-5);                     // w = 10 (3, 4) / 25
  EXPECT_NEAR(y[2], 15 * 3 / 25., 1e-5);           // two equal x: the mean 15, w = 15 (3, 4) / 25
  EXPECT_NEAR(y[3], 2 * (15 - 3 * 7) / 4., 1e-5);  // w_0 = 7, 3 w_0 + 4 w_1 = 15
}

TEST_F(HandMade, AveragingUsesTheMeanOfYTimesX) {
  const std::vector<float> y = predict("averaging");
  EXPECT_EQ(y[0], 0);
  EXPECT_NEAR(y[1], 250, 1e-4);             // <10 (3, 4), (3, 4)>
  EXPECT_NEAR(y[2], (30 + 60) / 2., 1e-5);  // coordinate 0 of the mean
  EXPECT_NEAR(y[3], 2 * (40 + 80 + 0) / 3., 1e-5);
}

TEST_F(HandMade, NearestTakesAllWhereThereAreFewer) {
  const std::vector<float> y = predict("nearest_3");
  EXPECT_EQ(y, (std::vector<float>{0, 10, 15, 37.0f / 3}));
}

TEST(Baselines, NearestThreeAgreesWithSorting) {
  const std::unique_ptr<Task> task = make_task(regression(4, 15, 0.1));
  const std::unique_ptr<Baseline> nearest = baseline(*task, "nearest_3");
  Items items(*task, 1);
  std::vector<float> output(15);
  for (std::uint64_t item = 0; item < 200; ++item) {
    sample_one(*task, item, items);
    nearest->predict(item, items.input(), {}, {output.data(), {15, 1}});
    const Prompt prompt = read_prompt(items.input());
    for (std::size_t k = 3; k < 15; ++k) {
      std::vector<std::pair<double, double>> examples;
      for (std::size_t i = 0; i < k; ++i) {
        double distance = 0;
        for (std::size_t c = 0; c < 4; ++c) {
          distance += std::pow(double{prompt.x(i, c)} - double{prompt.x(k, c)}, 2);
        }
        examples.emplace_back(distance, prompt.y(i, 0));
      }
      std::sort(examples.begin(), examples.end());
      const double mean = (examples[0].second + examples[1].second + examples[2].second) / 3;
      ASSERT_NEAR(output[k], mean, 1e-5) << "item " << item << ", position " << k;
    }
  }
}

// The scores are those of items 0 .. n-1 of (seed, kEval, 0), whatever the threads and the chunks.
TEST(Baselines, AreEvaluatedOnTheHeldOutStreamWithAnyThreads) {
  const int threads_before = threads();
  for (const TaskConfig& config : {retrieval(5, 4), separate(5, 4, 3), regression(3, 6)}) {
    const std::unique_ptr<Task> task = make_task(config);
    const Stage stage = task->final_stage();
    const std::size_t n = 4100;  // more than one chunk
    Items item(*task, 1);
    std::vector<float> memory(item.target().size());
    const View<float, 2> output(memory.data(), item.target().dims);
    std::vector<std::vector<BaselineScore>> found;
    for (const int count : {1, 3}) {
      set_threads(count);
      found.push_back(*evaluate_baselines(*task, 8, n));
    }
    const auto choices = choose_baselines(config.type, kDefault);
    for (std::size_t b = 0; b < choices.size(); ++b) {
      const std::unique_ptr<Baseline> predictor = make(*task, choices[b], 8);
      ScoreSheet sheet(*task, stage);
      for (std::size_t i = 0; i < n; ++i) {
        Random random(8, Purpose::kEval, 0, i);
        task->sample(random, stage, item.input(), item.query(), item.target());
        predictor->predict(i, item.input(), item.query(), output);
        sheet.add(item.input(), item.target(), output);
      }
      for (const std::vector<BaselineScore>& scores : found) {
        ASSERT_EQ(scores.size(), choices.size());
        EXPECT_EQ(scores[b].name, choices[b].name());
        EXPECT_EQ(scores[b].score.items, n);
        EXPECT_EQ(scores[b].score.loss.mean, sheet.score().loss.mean) << scores[b].name;
        EXPECT_EQ(scores[b].score.loss.sem, sheet.score().loss.sem) << scores[b].name;
      }
    }
  }
  set_threads(threads_before);
}

TEST(Baselines, StopWhenAskedTo) {
  const std::unique_ptr<Task> task = make_task(regression(3, 6));
  std::atomic<int> asked = 0;
  const auto evaluate = [&](std::size_t n, const Stop& stop) {
    return evaluate_baselines(*task, 0, n, {.stop = stop});
  };
  EXPECT_FALSE(evaluate(100'000'000, [&] { return ++asked > 200; }));
  EXPECT_TRUE(evaluate(10, [] { return false; }));
}

TEST(Baselines, NoItemsNoScore) {
  for (const BaselineScore& row : evaluate(regression(3, 4), 0)) {
    EXPECT_EQ(row.score.items, 0u);
    EXPECT_TRUE(std::isnan(row.score.loss.mean));
  }
}

// After one example in two dimensions the line from y_1 x_1 to w is uniform within a right angle,
// so that a quarter of the signs is wrong; in one dimension none is, after one example.
TEST(Baselines, PredictTheSignsOfClassification) {
  TaskConfig config = regression(2, 3);
  config.type = TaskType::kLinearClassification;
  const std::size_t n = 4000;
  const auto scores = evaluate(config, n, {"averaging", "least_squares", "ridge_1", "zero"});
  const double sigma = std::sqrt(.25 * .75 / static_cast<double>(n));
  for (const char* name : {"averaging", "least_squares", "ridge_1"}) {
    const Score score = score_of(scores, name);
    EXPECT_EQ(score.positions[0].mean, .5) << name;
    EXPECT_NEAR(score.positions[1].mean, .25, 5 * sigma) << name;
  }
  EXPECT_EQ(score_of(scores, "zero").positions[2].mean, .5);
  config.dim = 1;
  for (const BaselineScore& of : evaluate(config, 200, {"averaging", "least_squares"})) {
    if (of.name == "zero") continue;  // the reference, always there
    EXPECT_EQ(of.score.positions[1].mean, 0) << of.name;
  }
}

}  // namespace headroom::baselines_test
