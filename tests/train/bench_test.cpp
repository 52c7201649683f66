// What `headroom bench` reports: phases that add up, and the products of a step counted right.
#include "train/bench.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "core/allocations.h"
#include "core/parallel.h"
#include "small_job.h"

namespace headroom::bench_test {

TEST(Bench, PhasesAddUpToTheStep) {
  const TrainJob job = small_job("unused");
  // Phases are those of the thread that measures: of two, the other might take all slices.
  const int before = threads();
  set_threads(1);
  const BenchResult b = bench_steps(job.task, job.model, job.train, 5, 1);
  set_threads(before);
  EXPECT_EQ(b.steps, 5u);
  EXPECT_LE(b.min_s, b.median_s);
  EXPECT_LE(b.median_s, b.max_s);
  const double mean = std::accumulate(b.phases.begin(), b.phases.end(), 0.0);
  EXPECT_GE(mean, b.min_s);
  EXPECT_LE(mean, b.max_s);
  for (std::size_t i = 0; i < b.phases.size(); ++i) EXPECT_GE(b.phases[i], 0) << kPhaseNames[i];
  for (const Phase phase : {Phase::kMatmul, Phase::kAttention, Phase::kNorm, Phase::kActivation,
                            Phase::kLoss, Phase::kOptimizer, Phase::kData})
    EXPECT_GT(b.phases[static_cast<std::size_t>(phase)], 0)
        << kPhaseNames[static_cast<std::size_t>(phase)];
  EXPECT_EQ(phase_seconds, nullptr);
}

TEST(Bench, CountsTheProductsOfAStep) {
  // 32 sequences of 5 tokens, width 4, 2 heads of 2: query, key, value, output 4 x 4 each, FFN 4 x
  // 8 x 4; forward, and backward by input and by weights.
  TrainJob job = small_job("unused");
  const double weights = 4 * 4 * 4 + 2 * 4 * 8, rows = 32 * 5;
  EXPECT_DOUBLE_EQ(bench_steps(job.task, job.model, job.train, 1, 1).matmul_flops,
                   3 * 2 * rows * weights);
  job.train.accumulate = 4;  // the same products in four parts
  EXPECT_DOUBLE_EQ(bench_steps(job.task, job.model, job.train, 1, 1).matmul_flops,
                   3 * 2 * rows * weights);
}

TEST(Bench, CountsQueryTokens) {
  TrainJob job = small_job("unused");
  job.task.query = QueryMode::kSeparate;
  job.task.queries = 3;
  job.model.attention.kind = AttentionKind::kCross;
  EXPECT_DOUBLE_EQ(bench_steps(job.task, job.model, job.train, 1, 1).tokens, 32 * (5 + 3));
}

TEST(Allocations, AreCountedWhereTheyCanBe) {
  const std::optional<std::uint64_t> before = allocations();
  if (!before) {  // a sanitizer's malloc, or another C library: then never
    EXPECT_FALSE(allocations().has_value());
    return;
  }
  void* volatile p = std::malloc(100);
  const std::uint64_t after = *allocations();
  std::free(p);
  EXPECT_GE(after, *before + 1);
}

}  // namespace headroom::bench_test
