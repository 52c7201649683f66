// Derived sizes and impossible combinations.
#include <gtest/gtest.h>

#include <cctype>
#include <vector>

#include "core/error.h"
#include "model/head_budget.h"
#include "model/model.h"

namespace headroom::resolve_test {

std::string message_of(const ModelConfig& c, const ModelIo& io) {
  try {
    resolve(c, io);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::kUsage);
    return e.what();
  }
  return "";
}

TEST(Resolve, HeadsThatDoNotDivideNameBothKeysAndTheCountsThatDo) {
  ModelConfig c;
  c.width = 100;
  c.attention.heads = 3;
  const std::string message = message_of(c, {100, 100, 16});
  for (const char* part : {"model.attention.heads = 3", "model.width = 100",
                           "1, 2, 4, 5, 10, 20, 25, 50, 100", "key_size"})
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Resolve, FreeSizesNeedNoDivisor) {
  ModelConfig c;
  c.width = 100;
  c.attention.heads = 3;
  c.attention.key_size = 7;
  c.attention.value_size = 5;
  c.ffn.width = 0;
  EXPECT_EQ(message_of(c, {100, 100, 16}), "");
  Model<float> model(c, {100, 100, 16}, 1);
  // query, key: 21 x 100 + 21 each; value: 15 x 100 + 15; output: 100 x 15 + 100; the norm's
  // scalar.
  EXPECT_EQ(model.table().size(), 2u * (2100 + 21) + 1515 + 1600 + 1);
}

TEST(Resolve, MoreHeadsThanWidth) {
  ModelConfig c;
  c.width = 4;
  c.attention.heads = 9;
  EXPECT_NE(message_of(c, {4, 4, 3}).find("heads = 9"), std::string::npos);
  c.attention.key_size = c.attention.value_size = 1;
  EXPECT_EQ(message_of(c, {4, 4, 3}), "");
}

TEST(Resolve, ReadInAndReadOut) {
  ModelConfig c;
  c.width = 16;
  EXPECT_EQ(*resolve(c, {16, 16, 4}).read_in, ReadIn::kIdentity);
  EXPECT_EQ(*resolve(c, {16, 16, 4}).read_out, ReadOut::kIdentity);
  EXPECT_EQ(*resolve(c, {5, 1, 4}).read_in, ReadIn::kLinear);
  EXPECT_EQ(*resolve(c, {5, 1, 4}).read_out, ReadOut::kLinear);
  EXPECT_EQ(*resolve(c, {16, 1, 4}).read_out, ReadOut::kLinear);
  c.read_in = ReadIn::kIdentity;
  EXPECT_NE(message_of(c, {5, 5, 4}).find("16 and 5"), std::string::npos);
}

TEST(Resolve, PositionsMustReach) {
  ModelConfig c;
  c.positions = {PositionsType::kLearned, {}, 7};
  EXPECT_NE(message_of(c, {16, 16, 8}).find("positions.length = 7"), std::string::npos);
  EXPECT_EQ(*resolve(c, {16, 16, 7}).positions.length, 7u);
}

TEST(Resolve, DoesNotChangeWhatIsGiven) {
  ModelConfig c;
  c.norm.eps = 0.25;
  c.norm.final_norm = true;
  c.attention.key_size = 3;
  const ModelConfig r = resolve(c, {16, 16, 8});
  EXPECT_EQ(*r.norm.eps, 0.25);
  EXPECT_TRUE(*r.norm.final_norm);
  EXPECT_EQ(*r.attention.key_size, 3u);
}

ModelConfig budgeted(HeadBudget budget, std::size_t width, std::optional<std::size_t> key_size,
                     std::size_t copies = 1) {
  ModelConfig c;
  c.width = width;
  c.attention.heads = budget;
  c.attention.key_size = key_size;
  c.attention.copies = copies;
  return c;
}
std::size_t budgeted_heads(const ModelConfig& c) {
  const ModelConfig r = resolve(c, {c.width, c.width, 4});
  EXPECT_EQ(r.width * r.attention.heads * *r.attention.key_size * r.attention.copies,
            budget_value(std::get<HeadBudget>(c.attention.heads.given), c.width));
  return r.attention.heads;
}

TEST(HeadBudget, GivesTheHeadsOfAmselEtAl) {
  // H = d / r, d^1.5 / r and d^2 / r.
  for (const std::size_t r : {1, 2, 4, 8, 16, 32, 64}) {
    EXPECT_EQ(budgeted_heads(budgeted({BudgetPower::kSquare}, 64, r)), 64 / r);
    EXPECT_EQ(budgeted_heads(budgeted({BudgetPower::kFiveHalves}, 64, r)), 512 / r);
    EXPECT_EQ(budgeted_heads(budgeted({BudgetPower::kCube}, 64, r)), 4096 / r);
    EXPECT_EQ(budgeted_heads(budgeted({4096.0}, 64, r)), 64 / r);
    EXPECT_EQ(budgeted_heads(budgeted({BudgetPower::kFiveHalves}, 64, r, 8)), 64 / r);
  }
  EXPECT_EQ(budget_value({BudgetPower::kFiveHalves}, 64), 32768.0);
}

TEST(HeadBudget, IsSplitOverTheCopies) {
  EXPECT_EQ(budgeted_heads(budgeted({BudgetPower::kFiveHalves}, 16, 2, 8)), 4u);
}

TEST(HeadBudget, FillsTheValueSizeAndNothingElse) {
  ModelConfig c = budgeted({BudgetPower::kCube}, 16, 4);
  const ModelConfig r = resolve(c, {16, 16, 4});
  EXPECT_EQ(*r.attention.value_size, 4u);
  EXPECT_EQ(*r.attention.score_heads, 64u);
  EXPECT_EQ(*r.attention.kv_heads, 64u);
  c.attention.value_size = 3;
  EXPECT_EQ(*resolve(c, {16, 16, 4}).attention.value_size, 3u);
  // The same model as with the number written out.
  ModelConfig plain = c;
  plain.attention.heads = std::size_t{64};
  EXPECT_EQ(Model<float>(c, {16, 16, 4}, 1).table().size(),
            Model<float>(plain, {16, 16, 4}, 1).table().size());
}

void expect_parts(const std::string& message, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(HeadBudget, NeedsAKeySize) {
  expect_parts(message_of(budgeted({BudgetPower::kSquare}, 16, {}), {16, 16, 4}),
               {"model.attention.heads.budget = d^2 = 256 needs model.attention.key_size",
                "key_size 1 (16 heads)"});
}

TEST(HeadBudget, NamesTheNearestThatWork) {
  expect_parts(message_of(budgeted({BudgetPower::kFiveHalves}, 64, 48), {64, 64, 4}),
               {"d^2.5 = 32768", "64 * 48 * 1 = 3072", "10.6667 heads", "budget 30720 (10 heads)",
                "or 33792 (11 heads)", "key_size 32 (16 heads) or 64 (8 heads)"});
  // No square: no key size fits, budgets do.
  const std::string odd = message_of(budgeted({BudgetPower::kFiveHalves}, 32, 8), {32, 32, 4});
  expect_parts(odd, {"d^2.5 = 5792.62", "model.width is no square", "22.6274 heads",
                     "budget 5632 (22 heads) or 5888 (23 heads)"});
  EXPECT_EQ(odd.find("key_size 4"), std::string::npos) << odd;
  expect_parts(message_of(budgeted({100.0}, 16, 16), {16, 16, 4}), {"budget 256 (1 head)"});
  expect_parts(message_of(budgeted({100.5}, 10, 1), {10, 10, 4}),
               {"budget = 100.5", "10.05 heads", "budget 100 (10 heads) or 110 (11 heads)"});
  // More heads than there may be.
  expect_parts(message_of(budgeted({BudgetPower::kCube}, 1024, 1), {1024, 1024, 4}),
               {"1048576 heads", "budget 67108864 (65536 heads)", "key_size 16 (65536 heads)"});
}

TEST(HeadBudget, FullMapsHaveTheRankOfTheWidth) {
  ModelConfig c = budgeted({BudgetPower::kCube}, 16, {});
  c.attention.score_map = HeadMap::kFull;
  EXPECT_EQ(budgeted_heads(c), 16u);
  EXPECT_EQ(*resolve(c, {16, 16, 4}).attention.value_size, 16u);
  c.attention.copies = 3;
  const std::string message = message_of(c, {16, 16, 4});
  expect_parts(message, {"16 * 16 * 3 = 768", "5.33333 heads", "budget 3840 (5 heads) or 4608"});
  EXPECT_EQ(message.find("key_size 8"), std::string::npos) << message;
  c = budgeted({BudgetPower::kSquare}, 16, 4);
  c.attention.value_map = HeadMap::kFull;
  EXPECT_EQ(budgeted_heads(c), 4u);
  EXPECT_EQ(*resolve(c, {16, 16, 4}).attention.value_size, 16u);
}

// Whatever the error names must work.
TEST(HeadBudget, WhatItNamesWorks) {
  for (const std::size_t width : {6, 9, 16, 60})
    for (const std::size_t copies : {1, 2, 5})
      for (const std::size_t key_size : {1, 4, 7, 25})
        for (const HeadBudget budget : {HeadBudget{BudgetPower::kFiveHalves}, HeadBudget{720.0}}) {
          const ModelConfig c = budgeted(budget, width, key_size, copies);
          const std::string message = message_of(c, {width, width, 4});
          if (message.empty()) {
            budgeted_heads(c);
            continue;
          }
          const auto named = [&](const std::string& key, const auto& with) {
            const std::size_t from = message.find("nearest that work: ");
            ASSERT_NE(from, std::string::npos) << message;
            std::size_t at = message.find(key, from);
            if (at == std::string::npos) return;
            for (at += key.size(); at < message.size() && std::isdigit(message[at]);) {
              std::size_t end = 0, heads_end = 0;
              const std::string rest = message.substr(at);
              const std::size_t value = std::stoul(rest, &end);
              const std::size_t heads = std::stoul(rest.substr(end + 2), &heads_end);
              EXPECT_EQ(budgeted_heads(with(value)), heads) << message;
              at = message.find(')', at) + 1;
              at += message.compare(at, 4, " or ") == 0 ? 4 : message.size();
            }
          };
          named("budget ", [&](std::size_t b) {
            return budgeted({static_cast<double>(b)}, width, key_size, copies);
          });
          named("key_size ", [&](std::size_t r) { return budgeted(budget, width, r, copies); });
        }
}

// With queries of 0 every head finds the mean of the tokens, and so does the layer, whatever the
// number of heads and copies.
TEST(Resolve, ValueMapsThatStartAsTheIdentityReturnTheMeanOfTheHeads) {
  for (const std::size_t heads : {1, 3}) {
    ModelConfig c;
    c.width = 6;
    c.attention.heads = heads;
    c.attention.key_size = 2;
    c.attention.copies = 2;
    c.attention.value_map = HeadMap::kFull;
    c.attention.value_init = ValueInit::kIdentity;
    c.norm.type = NormType::kNone;
    c.ffn.width = 0;
    c.residual = c.bias = false;
    const ModelIo io{6, 6, 3};
    Model<float> model(c, io, 1, ModelUse::kAnswering);
    init_params(model.table(), 1, model.params());
    const ParamRow* query = model.table().find("layers.0.attention.query.weight");
    ASSERT_NE(query, nullptr);
    for (float& w : model.params().flat().subspan(query->offset, query->size)) w = 0;
    std::vector<float> x(18);
    for (std::size_t i = 0; i < 18; ++i) x[i] = static_cast<float>(i * i % 7);
    const View<const float, 3> y = model.forward(View<const float, 3>(x.data(), {1, 3, 6}), {});
    for (std::size_t t = 0; t < 3; ++t)
      for (std::size_t i = 0; i < 6; ++i)
        EXPECT_NEAR(y(0, t, i), (x[i] + x[6 + i] + x[12 + i]) / 3, 1e-5);
    c.attention.value_map = HeadMap::kFactored;
    c.attention.value_size = 2;
    EXPECT_NE(message_of(c, io).find("model.attention.value_map = full"), std::string::npos);
  }
}

}  // namespace headroom::resolve_test
