// The plain config of as many parameters: against a search of every size, and what it leaves alone.
#include "model/control.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "model/budget.h"

namespace headroom::control_test {

struct Row {
  const char* name;
  ModelConfig config;
  ModelIo io{16, 16, 8};
};

std::vector<Row> table() {
  std::vector<Row> rows;
  const auto add = [&](const char* name, const auto& change) {
    Row row{name, {}};
    row.config.attention.heads = 4;
    change(row.config, row.io);
    rows.push_back(row);
  };
  add("plain", [](ModelConfig&, ModelIo&) {});
  add("talking", [](ModelConfig& c, ModelIo&) {
    c.attention.mix_scores = c.attention.mix_weights = MixInit::kIdentity;
  });
  add("fewer score heads", [](ModelConfig& c, ModelIo&) {
    c.attention.mix_scores = MixInit::kFanIn;
    c.attention.score_heads = 1;
  });
  add("more of both", [](ModelConfig& c, ModelIo&) {
    c.attention.mix_scores = c.attention.mix_weights = MixInit::kFanIn;
    c.attention.score_heads = 9;
    c.attention.value_heads = 7;
    c.attention.key_size = 3;
    c.layers = 3;
  });
  add("multi-query", [](ModelConfig& c, ModelIo&) { c.attention.kv_heads = 1; });
  add("one shared head, hardly any FFN", [](ModelConfig& c, ModelIo&) {
    c.attention.heads = 16;
    c.attention.kv_heads = 1;
    c.ffn.width = 1;
  });
  add("copies, no bias", [](ModelConfig& c, ModelIo&) {
    c.attention.copies = 3;
    c.attention.value_size = 5;
    c.attention.mix_weights = MixInit::kFanIn;
    c.bias = false;
  });
  add("a budget", [](ModelConfig& c, ModelIo&) {
    c.attention.heads = HeadBudget{BudgetPower::kFiveHalves};
    c.attention.key_size = 2;
    c.attention.mix_scores = MixInit::kFanIn;
  });
  add("full score maps", [](ModelConfig& c, ModelIo&) {
    c.attention.score_map = HeadMap::kFull;
    c.attention.mix_scores = MixInit::kFanIn;
  });
  add("full maps, from a budget", [](ModelConfig& c, ModelIo&) {
    c.attention.heads = HeadBudget{4096.0};
    c.attention.score_map = c.attention.value_map = HeadMap::kFull;
    c.ffn.width = 3000;
  });
  add("two stacks, learned scales", [](ModelConfig& c, ModelIo& io) {
    c.type = ModelType::kEncoderDecoder;
    io.queries = 3;
    c.attention.scale = ScaleRule::kLearned;
    c.attention.kv_heads = 2;
    c.ffn = {20, Activation::kSwiglu};
  });
  add("relative biases, shared layers", [](ModelConfig& c, ModelIo&) {
    c.positions.type = PositionsType::kRelativeBias;
    c.share_layers = true;
    c.attention.mix_weights = MixInit::kFanIn;
    c.attention.value_heads = 9;
  });
  add("read-in and read-out", [](ModelConfig& c, ModelIo& io) {
    io = {5, 1, 21};
    c.attention.kv_heads = 2;
    c.norm = {NormType::kLayerNorm, NormPlacement::kPre, {}, {}};
    c.positions.type = PositionsType::kLearned;
    c.ffn.width = 200;
  });
  return rows;
}

// The plain config of this size, written out by hand.
std::uint64_t plain_parameters(const Row& row, ControlBy by, std::size_t size) {
  const ModelConfig r = resolve(row.config, row.io);
  ModelConfig c = row.config;
  c.attention = AttentionConfig{};
  c.attention.scale = r.attention.scale;
  c.attention.copies = r.attention.copies;
  c.attention.key_size = r.attention.key_size;
  c.attention.value_size = r.attention.value_size;
  c.attention.heads = by == ControlBy::kHeads ? size : std::size_t{r.attention.heads};
  if (by == ControlBy::kFfn) c.ffn.width = size;
  return model_budget(c, row.io).parameters;
}

TEST(Control, AgreesWithASearchOfEverySize) {
  std::size_t matches = 0, failures = 0;
  for (const Row& row : table())
    for (const ControlBy by : {ControlBy::kHeads, ControlBy::kFfn}) {
      SCOPED_TRACE(std::string(row.name) + (by == ControlBy::kHeads ? " by heads" : " by ffn"));
      const ControlSearch search = find_control(row.config, row.io, by);
      const std::uint64_t original = model_budget(row.config, row.io).parameters;
      EXPECT_EQ(search.original, original);
      std::size_t n = 1;
      while (plain_parameters(row, by, n) < original) ++n;
      const auto size_of = [&](const Control& control) {
        const ModelConfig c = resolve(control.config, row.io);
        return by == ControlBy::kHeads ? std::size_t{c.attention.heads} : c.ffn.width;
      };
      ASSERT_TRUE(search.at_least);
      EXPECT_EQ(size_of(*search.at_least), n);
      EXPECT_EQ(search.at_least->parameters, plain_parameters(row, by, n));
      EXPECT_EQ(search.below.has_value(), n > 1);
      if (search.below) {
        EXPECT_EQ(size_of(*search.below), n - 1);
        EXPECT_EQ(search.below->parameters, plain_parameters(row, by, n - 1));
      }
      const auto near = [&](std::size_t size) {
        const double p = static_cast<double>(plain_parameters(row, by, size));
        return std::abs(p / static_cast<double>(original) - 1) <= 0.01;
      };
      const Control* expected = near(n)                ? &*search.at_least
                                : n > 1 && near(n - 1) ? &*search.below
                                                       : nullptr;
      EXPECT_EQ(search.match(), expected);
      ++(expected != nullptr ? matches : failures);
    }
  EXPECT_GE(matches, 5u);
  EXPECT_GE(failures, 3u);
}

TEST(Control, UndoesWhatHeadsShareAndKeepsTheRest) {
  for (const Row& row : table())
    for (const ControlBy by : {ControlBy::kHeads, ControlBy::kFfn}) {
      SCOPED_TRACE(row.name);
      const ControlSearch search = find_control(row.config, row.io, by);
      for (const std::optional<Control>* control : {&search.at_least, &search.below}) {
        if (!*control) continue;
        ModelConfig c = resolve((*control)->config, row.io), r = resolve(row.config, row.io);
        const AttentionConfig& a = c.attention;
        EXPECT_EQ(a.mix_scores, MixInit::kNone);
        EXPECT_EQ(a.mix_weights, MixInit::kNone);
        EXPECT_EQ(a.score_map, HeadMap::kFactored);
        EXPECT_EQ(a.value_map, HeadMap::kFactored);
        for (const auto& heads : {a.score_heads, a.value_heads, a.kv_heads})
          EXPECT_EQ(*heads, std::size_t{a.heads});
        // All else is the original's.
        r.attention.mix_scores = r.attention.mix_weights = MixInit::kNone;
        r.attention.score_map = r.attention.value_map = HeadMap::kFactored;
        r.attention.score_heads = r.attention.value_heads = r.attention.kv_heads = a.heads;
        if (by == ControlBy::kHeads)
          r.attention.heads = a.heads;
        else
          r.ffn.width = c.ffn.width;
        Fields of_control, of_original;
        c.declare(of_control);
        r.declare(of_original);
        EXPECT_EQ(json::write(write_fields(of_control)), json::write(write_fields(of_original)));
      }
    }
}

TEST(Control, APlainConfigIsItsOwn) {
  const ModelConfig c;
  for (const ControlBy by : {ControlBy::kHeads, ControlBy::kFfn}) {
    const ControlSearch search = find_control(c, {16, 16, 8}, by);
    EXPECT_EQ(search.match()->parameters, search.original);
    EXPECT_FALSE(search.match()->config.attention.key_size);  // nulls stay
  }
}

TEST(Control, AtLeastAsManyParametersComeFirst) {
  const auto match = [](std::uint64_t below, std::uint64_t at_least) -> std::uint64_t {
    ControlSearch search{1000, Control{{}, at_least}, Control{{}, below}};
    return search.match() == nullptr ? 0 : search.match()->parameters;
  };
  EXPECT_EQ(match(999, 1010), 1010u);
  EXPECT_EQ(match(999, 1011), 999u);
  EXPECT_EQ(match(990, 1011), 990u);
  EXPECT_EQ(match(989, 1011), 0u);
  EXPECT_EQ((ControlSearch{1000, {}, {}}).match(), nullptr);
}

TEST(Control, EndsOfTheRange) {
  // Mixing among 65536 heads is more than plain heads can be.
  ModelConfig c;
  c.attention.heads = 65536;
  c.attention.key_size = c.attention.value_size = 1;
  c.attention.mix_scores = MixInit::kFanIn;
  const ControlSearch most = find_control(c, {16, 16, 8}, ControlBy::kHeads);
  EXPECT_FALSE(most.at_least);
  EXPECT_EQ(std::size_t{most.below->config.attention.heads}, 65536u);
  EXPECT_EQ(most.match(), nullptr);
  c.ffn.width = 0;
  EXPECT_NO_THROW(find_control(c, {16, 16, 8}, ControlBy::kHeads));
  try {
    find_control(c, {16, 16, 8}, ControlBy::kFfn);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::kUsage);
    EXPECT_NE(std::string(e.what()).find("model.ffn.width = 0"), std::string::npos);
  }
}

}  // namespace headroom::control_test
