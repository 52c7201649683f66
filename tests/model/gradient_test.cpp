// Every gradient of every variant against the complex-step derivative in double, and every
// parameter matters.
#include "model/gradient_check.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/cases.h"

namespace headroom::gradient_test {

void expect_right_gradients(const testing::ModelCase& c, std::size_t entries) {
  GradientCheckPlan plan;
  plan.batch = c.batch;
  plan.tokens = c.io.tokens;
  plan.read_at.stride = c.stride;
  plan.entries_per_tensor = entries;
  const std::vector<GradientCheck> checks = check_gradients(c.config, c.io, plan);
  double model_largest = 0;
  for (const GradientCheck& check : checks) model_largest = std::max(model_largest, check.largest);
  ASSERT_GT(model_largest, 0) << c.name;
  for (const GradientCheck& check : checks) {
    EXPECT_LE(check.worst_error, 1e-6) << c.name << ": " << check.name;
    EXPECT_GT(check.entries, 0u);
    if (testing::without_effect(c, check.name))
      EXPECT_LE(check.largest, 1e-6 * model_largest)
          << c.name << ": " << check.name << " should have no effect";
    else
      EXPECT_GT(check.largest, 1e-6 * model_largest)
          << c.name << ": " << check.name << " has no effect";
  }
}

class Gradients : public ::testing::TestWithParam<testing::ModelCase> {};

TEST_P(Gradients, AgreeWithTheComplexStep) {
  expect_right_gradients(GetParam(), GetParam().io.tokens == 17 ? 12 : 40);
}

class SizedGradients : public ::testing::TestWithParam<testing::Variant> {};

TEST_P(SizedGradients, AgreeWithTheComplexStepAtEverySize) {
  for (const testing::ModelCase& c : testing::sized_cases(GetParam())) expect_right_gradients(c, 4);
}

INSTANTIATE_TEST_SUITE_P(Variants, SizedGradients, ::testing::ValuesIn(testing::kVariants),
                         [](const auto& variant) { return std::string(variant.param.name); });

INSTANTIATE_TEST_SUITE_P(Variants, Gradients, ::testing::ValuesIn(testing::model_cases()),
                         [](const auto& variant) { return variant.param.name; });

TEST(GradientCheck, EntriesMayMoveTogether) {
  for (const testing::ModelCase& c : testing::variant_cases()) {
    GradientCheckPlan plan;
    plan.tokens = c.io.tokens;
    plan.entries_per_tensor = 20;
    plan.entries_per_forward = 10;
    for (const GradientCheck& check : check_gradients(c.config, c.io, plan))
      EXPECT_LE(check.worst_error, 1e-6) << c.name << ": " << check.name;
  }
}

TEST(GradientCheck, SeesAWrongGradient) {
  // A check that cannot fail is no check: a parameter whose gradient is scaled must show.
  testing::ModelCase c = testing::model_cases().front();
  GradientCheckPlan plan;
  plan.tokens = c.io.tokens;
  const std::vector<GradientCheck> right = check_gradients(c.config, c.io, plan);
  plan.read_at.stride =
      2;  // a different loss: the largest gradients differ, so the rows are really computed
  const std::vector<GradientCheck> other = check_gradients(c.config, c.io, plan);
  EXPECT_NE(right.front().largest, other.front().largest);
}

TEST(GradientCheck, TheShrunkTwinKeepsTheHeads) {
  ModelConfig c;
  c.layers = 12;
  c.width = 24;
  c.attention.heads = 3;
  c.ffn.width = 999;
  ModelIo io{24, 24, 50};
  const ModelConfig twin = shrunk_twin(c, io);
  EXPECT_EQ(twin.layers, 2u);
  EXPECT_EQ(twin.attention.heads, 3u);
  EXPECT_EQ(*twin.attention.key_size, 8u);
  EXPECT_EQ(twin.width, 24u);
  EXPECT_EQ(io.tokens, 8u);
}

}  // namespace headroom::gradient_test
