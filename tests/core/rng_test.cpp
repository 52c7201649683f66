// Philox against its published vectors, the streams' independence, and the distributions.
#include "core/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

namespace headroom::rng_test {

TEST(Philox, KnownAnswers) {
  // From the test vectors of Random123 (kat_vectors, philox4x32 10).
  using Block = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint32_t all = 0xffffffff;
  EXPECT_EQ(philox4x32({all, all, all, all}, {all, all}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, StreamsArePureAndDiffer) {
  std::set<std::uint32_t> first;
  const std::uint64_t big = std::numeric_limits<std::uint64_t>::max();
  int n = 0;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 63, big})
    for (const Purpose purpose : {Purpose::kInit, Purpose::kTrain, Purpose::kEval})
      for (const std::uint64_t step : {std::uint64_t{0}, std::uint64_t{1}, big})
        for (const std::uint64_t item : {0, 1, 77}) {
          const std::uint32_t word = Random(seed, purpose, step, item).bits();
          EXPECT_EQ(word, Random(seed, purpose, step, item).bits());
          first.insert(word);
          ++n;
        }
  EXPECT_EQ(first.size(), static_cast<std::size_t>(n));
}

TEST(Random, FillDoesNotDependOnWhatWasDrawnInTheSameBlock) {
  Random a(1, Purpose::kTest, 0, 0);
  std::vector<float> long_run(1000), pieces(1000);
  a.fill_normal(long_run);
  for (std::size_t n : {1u, 5u, 64u, 65u, 999u}) {
    Random b(1, Purpose::kTest, 0, 0);
    std::vector<float> part(n);
    b.fill_normal(part);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(part[i], long_run[i]) << n;
  }
}

// Moments of n draws within five standard errors of those of N(0, 1).
void expect_normal(const std::vector<double>& x) {
  const double n = static_cast<double>(x.size());
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0, tail = 0;
  for (double v : x) {
    m1 += v;
    m2 += v * v;
    m3 += v * v * v;
    m4 += v * v * v * v;
    tail += std::abs(v) > 2 ? 1 : 0;
  }
  EXPECT_NEAR(m1 / n, 0, 5 * std::sqrt(1 / n));
  EXPECT_NEAR(m2 / n, 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(m3 / n, 0, 5 * std::sqrt(15 / n));
  EXPECT_NEAR(m4 / n, 3, 5 * std::sqrt(96 / n));
  const double p = std::erfc(2 / std::sqrt(2.0));
  EXPECT_NEAR(tail / n, p, 5 * std::sqrt(p * (1 - p) / n));
}

TEST(Random, NormalsAreNormal) {
  std::vector<float> filled(1000000);
  Random(7, Purpose::kTest, 1, 0).fill_normal(filled);
  expect_normal({filled.begin(), filled.end()});
  double neighbours = 0;
  for (std::size_t i = 0; i + 1 < filled.size(); ++i)
    neighbours += static_cast<double>(filled[i] * filled[i + 1]);
  EXPECT_NEAR(neighbours / 1e6, 0, 5e-3);
  std::vector<double> single(200000);
  Random one(7, Purpose::kTest, 2, 0);
  for (double& x : single) x = one.normal();
  expect_normal(single);
}

TEST(Random, UniformsAndIntegers) {
  Random r(3, Purpose::kTest, 0, 0);
  double sum = 0, lowest = 1, highest = 0;
  for (int i = 0; i < 100000; ++i) {
    const double u = r.uniform();
    sum += u;
    lowest = std::min(lowest, u);
    highest = std::max(highest, u);
  }
  EXPECT_NEAR(sum / 1e5, 0.5, 5 * std::sqrt(1.0 / 12 / 1e5));
  EXPECT_GE(lowest, 0);
  EXPECT_LT(highest, 1);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts[r.below(7)];
  for (int c : counts) EXPECT_NEAR(c, 10000, 5 * std::sqrt(10000 * 6.0 / 7));
  std::vector<float> f(100000);
  r.fill_uniform(f, -2, 3);
  double mean = 0;
  for (float x : f) {
    ASSERT_GE(x, -2.0f);
    ASSERT_LT(x, 3.0f);
    mean += static_cast<double>(x) / 1e5;
  }
  EXPECT_NEAR(mean, 0.5, 5 * 5 * std::sqrt(1.0 / 12 / 1e5));
}

}  // namespace headroom::rng_test
