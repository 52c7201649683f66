#include "train/optimizer.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/parallel.h"
#include "train/gradient.h"

namespace headroom::optimizer_test {

ParamTable table_of(std::vector<ParamRow> rows) {
  ParamTable table;
  for (ParamRow& row : rows) table.add(row);
  return table;
}

ParamRow row(std::string name, std::size_t n, bool decay) {
  ParamRow r;
  r.name = std::move(name);
  r.shape = {n};
  r.decay = decay;
  return r;
}

constexpr std::array<double, 5> kGradients{0.5, -0.25, 0.125, 1, -2};

// One parameter from 1 under kGradients. Expected values: the formulas of the papers in decimal
// arithmetic of 50 digits, outside this program.
template <class S>
void expect_updates(const OptimizerConfig& config, const std::vector<std::array<double, 3>>& wanted,
                    double tolerance) {
  const ParamTable table = table_of({row("w", 1, true)});
  Optimizer<S> optimizer(config, table);
  std::vector<S> p{1};
  for (std::size_t t = 1; t <= 5; ++t) {
    const std::vector<S> g{static_cast<S>(kGradients[t - 1])};
    ASSERT_TRUE(optimizer.step(t, config.lr, 1, p, g));
    EXPECT_NEAR(p[0], wanted[t - 1][0], tolerance) << t;
    EXPECT_NEAR(optimizer.m()[0], wanted[t - 1][1], tolerance) << t;
    if (config.type == OptimizerType::kAdamW) {
      EXPECT_NEAR(optimizer.v()[0], wanted[t - 1][2], tolerance) << t;
    } else {
      EXPECT_TRUE(optimizer.v().empty());
    }
  }
}

TEST(Optimizer, AdamMatchesFiveUpdatesByHand) {
  OptimizerConfig c;
  c.lr = 0.1;
  const std::vector<std::array<double, 3>> wanted{{0.90000000199999997, 0.05, 0.0125},
                                                  {0.87316305787582738, 0.02, 0.015},
                                                  {0.83849489607697325, 0.0305, 0.01503125},
                                                  {0.77553914365619192, 0.12745, 0.0642796875},
                                                  {0.79492784614233902, -0.085295, 0.261065703125}};
  expect_updates<double>(c, wanted, 1e-15);
  expect_updates<float>(c, wanted, 1e-6);
}

TEST(Optimizer, AdamWDecayIsDecoupled) {
  OptimizerConfig c;
  c.lr = 0.1;
  c.weight_decay = 0.1;
  const std::vector<std::array<double, 3>> wanted{{0.88999999999999996 + 2e-9, 0.05, 0.0125},
                                                  {0.85426305785582735, 0.02, 0.015},
                                                  {0.81105226547841491, 0.0305, 0.01503125},
                                                  {0.73998599040284951, 0.12745, 0.0642796875},
                                                  {0.75197483298496803, -0.085295, 0.261065703125}};
  expect_updates<double>(c, wanted, 1e-15);
  expect_updates<float>(c, wanted, 1e-6);
}

TEST(Optimizer, SgdMatchesFiveUpdatesByHand) {
  OptimizerConfig c;
  c.type = OptimizerType::kSgd;
  c.lr = 0.1;
  c.momentum = 0.9;
  c.weight_decay = 0.1;
  const std::vector<std::array<double, 3>> wanted{{0.94, 0.6, 0},
                                                  {0.9016, 0.384, 0},
                                                  {0.845524, 0.56076, 0},
                                                  {0.68660036, 1.5892364, 0},
                                                  {0.7367030804, -0.501027204, 0}};
  expect_updates<double>(c, wanted, 1e-15);
  expect_updates<float>(c, wanted, 1e-6);
}

TEST(Optimizer, DecayTouchesOnlyTheRowsThatAsk) {
  // Rows of odd sizes, so that stretches of one decay begin and end inside and across tiles.
  const std::vector<std::size_t> sizes{3, 1, 20000, 17, 40001, 5};
  std::vector<ParamRow> rows;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    rows.push_back(row("r" + std::to_string(i), sizes[i], i % 2 == 0));
  }
  const ParamTable table = table_of(rows);
  OptimizerConfig c;
  c.lr = 0.5;
  c.weight_decay = 0.5;
  Optimizer<float> optimizer(c, table);
  std::vector<float> p(table.size(), 2), g(table.size(), 0);
  ASSERT_TRUE(optimizer.step(1, c.lr, 1, p, g));
  for (const ParamRow& r : table.rows()) {
    for (std::size_t i = 0; i < r.size; ++i) {
      ASSERT_EQ(p[r.offset + i], r.decay ? 1.5f : 2.0f) << r.name << " " << i;
    }
  }
}

TEST(Optimizer, ThreadsChangeNoBit) {
  const ParamTable table = table_of({row("a", 70001, true), row("b", 33333, false)});
  OptimizerConfig c;
  c.weight_decay = 0.01;
  std::vector<std::vector<float>> results;
  std::vector<double> norms;
  const int before = threads();
  for (const int n : {1, 2, 5}) {
    set_threads(n);
    Optimizer<float> optimizer(c, table);
    GradientMeter<float> meter(table.size());
    std::vector<float> p(table.size()), g(table.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
      p[i] = std::sin(static_cast<float>(i));
      g[i] = std::cos(static_cast<float>(3 * i));
    }
    for (std::uint64_t t = 1; t <= 3; ++t) ASSERT_TRUE(optimizer.step(t, 0.01, 0.7, p, g));
    results.push_back(p);
    norms.push_back(meter.measure(g).norm);
  }
  set_threads(before);
  for (std::size_t k = 1; k < results.size(); ++k) {
    EXPECT_EQ(std::memcmp(results[0].data(), results[k].data(), results[0].size() * 4), 0);
    EXPECT_EQ(norms[0], norms[k]);
  }
}

TEST(Optimizer, SaysWhenAParameterBecomesInfinite) {
  const ParamTable table = table_of({row("a", 20000, false)});
  OptimizerConfig c;
  c.type = OptimizerType::kSgd;
  Optimizer<float> optimizer(c, table);
  std::vector<float> p(20000, 0), g(20000, 1);
  g[19999] = 3e38f;
  EXPECT_TRUE(optimizer.step(1, 1, 1, p, g));
  EXPECT_FALSE(optimizer.step(2, 1e6, 1, p, g));
  EXPECT_EQ(first_nonfinite<float>(table, p), "a");
}

TEST(Gradient, NormIsTakenInDouble) {
  std::vector<float> g(100001, 1e19f);
  GradientMeter<float> meter(g.size());
  const GradientSize size = meter.measure(g);
  const double x = 1e19f;
  EXPECT_NEAR(size.norm / (x * std::sqrt(100001.0)), 1, 1e-12);
  EXPECT_EQ(size.largest, x);
  EXPECT_TRUE(std::isfinite(clip_factor(size.norm, 1)));
}

TEST(Gradient, NormSeesEveryEntryAndEveryNaN) {
  GradientMeter<float> meter(40000);
  for (const std::size_t n : {1u, 15u, 16u, 17u, 16384u, 16385u, 40000u}) {
    std::vector<float> g(n, 0);
    for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
      g[at] = -3;
      EXPECT_EQ(meter.measure(g).norm, 3) << n;
      EXPECT_EQ(meter.measure(g).largest, 3) << n;
      g[at] = std::numeric_limits<float>::quiet_NaN();
      EXPECT_FALSE(std::isfinite(meter.measure(g).norm)) << n;
      g[at] = -std::numeric_limits<float>::infinity();
      EXPECT_FALSE(std::isfinite(meter.measure(g).norm)) << n;
      g[at] = 0;
    }
  }
}

TEST(Gradient, ClipsAsPyTorchDoes) {
  EXPECT_EQ(clip_factor(0.5, 1), 1);
  EXPECT_DOUBLE_EQ(clip_factor(10, 1), 1 / (10 + 1e-6));
  EXPECT_EQ(clip_factor(0, 1), 1);
}

TEST(Gradient, NamesTheFirstBadTensorInTableOrder) {
  const ParamTable table = table_of({row("a", 3, true), row("b", 3, true), row("c", 3, true)});
  std::vector<float> g(table.size(), 1);
  EXPECT_EQ(first_nonfinite<float>(table, g), "");
  g[table.find("c")->offset] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(first_nonfinite<float>(table, g), "c");
  g[table.find("b")->offset + 2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(first_nonfinite<float>(table, g), "b");
}

}  // namespace headroom::optimizer_test
