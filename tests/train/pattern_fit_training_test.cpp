// Training on pattern_fit ends where Bhojanapalli et al.'s Theorem 1 and brute force say.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "loop_fixture.h"

namespace headroom::pattern_fit_training_test {

class PatternFitTraining : public LoopTest {
 protected:
  TrainJob job(std::size_t points, std::size_t key_size, std::uint64_t seed) {
    TrainJob job = small_job(folder / (std::to_string(key_size) + "-" + std::to_string(seed)));
    job.task = {};
    job.task.type = TaskType::kPatternFit;
    job.task.dim = job.task.points = points;
    job.task.points_from = PointsFrom::kOrthonormal;
    job.model = {};
    job.model.width = points;
    job.model.norm.type = NormType::kNone;
    job.model.ffn.width = 0;
    job.model.residual = job.model.bias = false;
    job.model.attention.heads = std::size_t{1};
    job.model.attention.key_size = key_size;
    job.model.attention.value_map = HeadMap::kFull;
    job.model.attention.value_init = ValueInit::kIdentity;
    job.init_seed = seed;
    job.train.steps = 1500;
    job.train.batch = 1;
    job.train.optimizer.lr = 0.05;
    job.train.freeze = {"*.value.*"};
    job.eval.items = 2;
    job.eval.every = job.train.steps;
    job.run.log_every = job.run.checkpoint_every = job.train.steps;
    return job;
  }

  double least(std::size_t points, std::size_t key_size) {
    double best = 1e9;
    for (std::uint64_t seed = 0; seed < 3; ++seed)
      best = std::min(best, train(job(points, key_size, seed)).score->loss.mean);
    return best;
  }
};

// The least mean over rows of ||softmax(q_i k) - P_i||^2 over k in R^3 and q in R^3: of k only its
// direction beside (1, 1, 1) matters, and given it each row is on its own.
double least_at_rank_one(const std::vector<double>& p) {
  constexpr int kDirections = 360, kScores = 400;
  double best = 1e9;
  for (int i = 0; i < kDirections; ++i) {
    const double angle = std::numbers::pi * i / kDirections;
    const double u = std::cos(angle) / std::sqrt(2.0), v = std::sin(angle) / std::sqrt(6.0);
    const double k[] = {u + v, v - u, -2 * v};
    double sum = 0;
    for (std::size_t row = 0; row < 3; ++row) {
      double least = 1e9;
      for (int s = -kScores; s <= kScores; ++s) {
        // Finer about 0.
        const double at = static_cast<double>(s) / kScores, q = 40 * at * std::abs(at);
        double e[3], total = 0, loss = 0;
        for (int j = 0; j < 3; ++j) total += e[j] = std::exp(q * k[j]);
        for (std::size_t j = 0; j < 3; ++j) {
          const double difference = e[j] / total - p[3 * row + j];
          loss += difference * difference;
        }
        least = std::min(least, loss);
      }
      sum += least / 3;
    }
    best = std::min(best, sum);
  }
  return best;
}

TEST_F(PatternFitTraining, RankOneEndsAtTheBruteForceMinimumAndFullRankAtZero) {
  const std::unique_ptr<Task> task = make_task(job(3, 1, 0).task);
  std::vector<float> x(9), y(9);
  const std::array<std::size_t, 2> dims{3, 3};
  Random random(0, Purpose::kTest, 0, 0);
  task->sample(random, task->final_stage(), {x.data(), dims}, {}, {y.data(), dims});
  std::vector<double> p(9, 0.0);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t c = 0; c < 3; ++c)
        p[3 * i + j] += double{y[3 * i + c]} * double{x[3 * j + c]};
  const double bound = least_at_rank_one(p);
  EXPECT_GT(bound, 1e-3);  // a pattern that tells
  const double reached = least(3, 1);
  EXPECT_GT(reached, .98 * bound);
  EXPECT_LT(reached, 1.02 * bound);
  EXPECT_LT(least(3, 2), 1e-6);  // a row's scores may be shifted: one rank less does
  EXPECT_LT(least(3, 3), 1e-6);
}

TEST_F(PatternFitTraining, OfEightTokensEachRankLeavesLess) {
  const double rank_2 = train(job(8, 2, 0)).score->loss.mean,
               rank_4 = train(job(8, 4, 0)).score->loss.mean,
               rank_8 = train(job(8, 8, 0)).score->loss.mean;
  EXPECT_GT(rank_2, 2 * rank_4);
  EXPECT_GT(rank_4, 1e-4);
  EXPECT_LT(rank_8, 1e-5);
}

}  // namespace headroom::pattern_fit_training_test
