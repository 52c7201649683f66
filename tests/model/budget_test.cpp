// Parameter counts against the published ones, FLOPs and d H r against the formulas.
#include "model/budget.h"

#include <gtest/gtest.h>

namespace headroom {
namespace {

std::uint64_t parameters_of(const Budget& b, const std::string& part) {
  for (const BudgetPart& p : b.layer)
    if (p.name == part) return p.parameters;
  return 0;
}

TEST(Budget, GargStandardHasItsPublishedParameters) {
  ModelConfig c;
  c.layers = 12;
  c.width = 256;
  c.norm = {NormType::kLayerNorm, NormPlacement::kPre, {}, {}};
  c.positions = {PositionsType::kLearned, {}, 202};
  c.attention.heads = 8;
  c.attention.mask = Mask::kCausal;
  c.ffn = {1024, Activation::kGeluTanh};
  c.init = Init::kGpt2;
  const Budget b = model_budget(c, {20, 1, 82});
  EXPECT_EQ(b.parameters, 9534977u);
  EXPECT_EQ(b.d_h_r, 256u * 256u);
}

TEST(Budget, AmselEncoderLayer) {
  ModelConfig c;
  c.width = 64;
  c.attention.heads = 8;
  c.attention.copies = 8;
  c.ffn.width = 2048;
  const Budget b = model_budget(c, {64, 64, 16});
  EXPECT_EQ(b.d_h_r, 8u * 64u * 64u);  // c d^2
  EXPECT_EQ(parameters_of(b, "attention query, key, value"), 8u * (3 * 64 * 64 + 3 * 64));
  EXPECT_EQ(parameters_of(b, "attention output"), 8u * (64 * 64 + 64));
  EXPECT_EQ(parameters_of(b, "ffn"), 2u * 64 * 2048 + 2048 + 64);
  EXPECT_EQ(parameters_of(b, "norms"), 2u);
  // 2 a weight, and 2 n H (r + v) for the scores and the sums.
  EXPECT_DOUBLE_EQ(b.layer_flops_per_token,
                   2.0 * (8 * 4 * 64 * 64 + 2 * 64 * 2048) + 2.0 * 16 * 64 * (8 + 8));
  EXPECT_DOUBLE_EQ(b.step_flops_per_token, 3 * b.layer_flops_per_token);
}

TEST(Budget, EqualAcrossRanks) {
  for (const std::size_t heads : {1, 2, 4, 8, 16}) {
    ModelConfig c;
    c.attention.heads = heads;
    EXPECT_EQ(model_budget(c, {16, 16, 16}).d_h_r, 256u) << heads;
    EXPECT_EQ(model_budget(c, {16, 16, 16}).parameters,
              model_budget(ModelConfig{}, {16, 16, 16}).parameters);
  }
}

}  // namespace
}  // namespace headroom
