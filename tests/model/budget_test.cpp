// Parameter counts against the published ones, FLOPs and d H r against the formulas.
#include "model/budget.h"

#include <gtest/gtest.h>

namespace headroom::budget_test {

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

TEST(Budget, HeadWeightsFollowTheFormulas) {
  ModelConfig c;
  c.width = 20;
  c.layers = 3;
  AttentionConfig& a = c.attention;
  a.heads = std::size_t{6};
  a.key_size = 5;
  a.value_size = 7;
  a.copies = 2;
  a.mix_scores = a.mix_weights = MixInit::kFanIn;
  a.score_heads = 4;
  a.value_heads = 3;
  const Budget b = model_budget(c, {20, 20, 9});
  EXPECT_EQ(b.d_h_r, 20u * 2 * 4 * 5);
  EXPECT_EQ(b.model_d_h_r, 3u * b.d_h_r);
  EXPECT_EQ(b.layer_heads.query_key, 2u * 20 * (2 * 4) * 5);
  EXPECT_EQ(b.layer_heads.value_output, 2u * 20 * (2 * 3) * 7);
  EXPECT_EQ(b.layer_heads.mixing, 2u * 6 * (4 + 3));
  EXPECT_EQ(b.model_heads.query_key, 3 * b.layer_heads.query_key);
  EXPECT_EQ(b.model_heads.value_output, 3 * b.layer_heads.value_output);
  EXPECT_EQ(b.model_heads.mixing, 3 * b.layer_heads.mixing);
  // Grouped keys and values are fewer, queries and outputs are not.
  a = AttentionConfig{};
  a.heads = std::size_t{4};
  a.kv_heads = 2;
  const Budget grouped = model_budget(c, {20, 20, 9});
  EXPECT_EQ(grouped.layer_heads.query_key, 20u * 5 * (4 + 2));
  EXPECT_EQ(grouped.layer_heads.value_output, 20u * 5 * (4 + 2));
}

TEST(Budget, HeadWeightsOfEveryKindOfLayer) {
  ModelConfig c;
  c.width = 12;
  c.layers = 4;
  c.attention.heads = 2;
  // Full maps are one width x width matrix a head each.
  c.attention.score_map = c.attention.value_map = HeadMap::kFull;
  const Budget full = model_budget(c, {12, 12, 9});
  EXPECT_EQ(full.d_h_r, 12u * 2 * 12);
  EXPECT_EQ(full.layer_heads.query_key, 12u * 2 * 12);
  EXPECT_EQ(full.layer_heads.value_output, 12u * 2 * 12);
  // Shared layers spend once.
  c.attention.score_map = c.attention.value_map = HeadMap::kFactored;
  c.attention.scale = ScaleRule::kLearned;  // scales are no maps
  c.share_layers = true;
  const Budget shared = model_budget(c, {12, 12, 9});
  EXPECT_EQ(shared.model_d_h_r, shared.d_h_r);
  EXPECT_EQ(shared.model_heads.query_key, shared.layer_heads.query_key);
  EXPECT_EQ(shared.layer_heads.query_key, 2u * 12 * 12);
  // A stack of self-attention, one of self- and cross-attention.
  c.share_layers = false;
  c.type = ModelType::kEncoderDecoder;
  const Budget both = model_budget(c, {12, 12, 9, 3});
  EXPECT_EQ(both.model_d_h_r, 3 * 4 * both.d_h_r);
  EXPECT_EQ(both.model_heads.value_output, 3u * 4 * 2 * 12 * 12);
  EXPECT_EQ(both.layer_heads.value_output, 2u * 2 * 12 * 12);
}

// Weights of maps, biases and what is neither add up to the parameters.
TEST(Budget, BiasesAreCountedByPart) {
  ModelConfig c;
  c.width = 12;
  c.layers = 2;
  c.attention.heads = std::size_t{3};
  c.ffn.width = 10;
  for (const bool bias : {true, false}) {
    c.bias = bias;
    const Budget b = model_budget(c, {5, 1, 9});
    std::uint64_t biases = 0;
    for (const BudgetPart& p : b.model) biases += p.biases;
    // Query, key, value and output, up and down of each layer, then read-in and read-out.
    EXPECT_EQ(biases, bias ? 2u * (4 * 12 + 10 + 12) + 12 + 1 : 0u);
    const std::uint64_t norms = 2 * 2, ffn = 2 * 2 * 12 * 10, maps = 5 * 12 + 12;
    EXPECT_EQ(b.parameters,
              b.model_heads.query_key + b.model_heads.value_output + norms + ffn + maps + biases);
  }
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

// d = 16, 2 heads of key and value size 8, FFN 64, N = 12 tokens, Q = 5 queries; 2 FLOPs a
// multiply-add.
ModelConfig small_model() {
  ModelConfig c;
  c.attention.heads = 2;
  return c;
}
constexpr double kMap = 2.0 * 16 * 16, kFfn = 2.0 * 2 * 16 * 64;

TEST(Budget, CrossAttentionMapsEachTokenOnce) {
  ModelConfig c = small_model();
  c.attention.kind = AttentionKind::kCross;
  const Budget b = model_budget(c, {16, 16, 12, 5});
  // Query, output and FFN for the queries, key and value for the tokens; scores and sums between.
  EXPECT_DOUBLE_EQ(b.flops_per_token * 17,
                   5 * (2 * kMap + kFfn) + 12 * 2 * kMap + 2.0 * 5 * 12 * (16 + 16));
}

TEST(Budget, EncoderDecoder) {
  ModelConfig c = small_model();
  c.type = ModelType::kEncoderDecoder;
  c.layers = 3;
  c.attention.mask = Mask::kCausal;
  const Budget b = model_budget(c, {16, 16, 12, 5});
  const double encoder = 12 * (4 * kMap + kFfn) + 2.0 * 12 * 12 * 32;
  const double decoder = 5 * (4 * kMap + kFfn) + 2.0 * 5 * 3 * 32  // causal: (5 + 1) / 2 keys
                         + 5 * 2 * kMap + 12 * 2 * kMap + 2.0 * 5 * 12 * 32;
  EXPECT_DOUBLE_EQ(b.flops_per_token * 17, 3 * (encoder + decoder));
  EXPECT_DOUBLE_EQ(b.layer_flops_per_token * 17, decoder);
  const std::uint64_t attention = 4 * 16 * 17, ffn = 2 * 16 * 64 + 64 + 16;
  EXPECT_EQ(b.parameters, 3 * (attention + ffn + 2) + 3 * (2 * attention + ffn + 3));
}

TEST(Budget, SharedLayersCountOnceAsParameters) {
  ModelConfig c = small_model();
  c.layers = 4;
  const Budget apart = model_budget(c, {16, 16, 12});
  c.share_layers = true;
  const Budget shared = model_budget(c, {16, 16, 12});
  EXPECT_DOUBLE_EQ(shared.flops_per_token, apart.flops_per_token);
  EXPECT_EQ(4 * shared.parameters, apart.parameters);
}

TEST(Budget, FullMapsAndGates) {
  ModelConfig c = small_model();
  c.attention.score_map = c.attention.value_map = HeadMap::kFull;
  c.ffn.activation = Activation::kSwiglu;
  c.bias = false;
  const Budget b = model_budget(c, {16, 16, 12});
  // 2 d^2 a head where factors have 4 d^2 in all, and a third map in the FFN.
  EXPECT_EQ(b.parameters, 2u * (2 * 16 * 16) + 3 * 16 * 64 + 2);
  EXPECT_DOUBLE_EQ(b.flops_per_token, 2 * 2 * kMap + kFfn * 3 / 2 + 2.0 * 12 * 2 * (16 + 16));
}

}  // namespace headroom::budget_test
