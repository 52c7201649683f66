// What is seen of a forward pass is what the forward pass did.
#include "analysis/inspect.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/ablation.h"
#include "model/cases.h"
#include "train/evaluate.h"

namespace headroom::inspect_test {

class Seen : public ::testing::TestWithParam<testing::ModelCase> {
 protected:
  static std::vector<float> normals(std::size_t n, std::uint64_t item) {
    std::vector<float> values(n);
    Random(3, Purpose::kTest, 1, item).fill_normal(values);
    return values;
  }
};

// The dumped weights times the values are the heads' sums that the layer went on with.
TEST_P(Seen, MapsAreThoseOfTheForwardPass) {
  const testing::ModelCase& c = GetParam();
  Model<float> model(c.config, c.io, c.batch, ModelUse::kInspection);
  init_params(model.table(), 5, model.params());
  std::vector<float> x = normals(c.batch * c.io.tokens * c.io.input_dim, 0),
                     y = normals(c.batch * c.io.queries * c.io.input_dim, 1);
  View<const float, 3> query;
  if (c.io.queries > 0) query = {y.data(), {c.batch, c.io.queries, c.io.input_dim}};
  model.forward({x.data(), {c.batch, c.io.tokens, c.io.input_dim}}, query);
  for (const AttentionRecord<float>& layer : model.attention()) {
    AttentionMaps maps;
    AttentionObserver().add(layer, {}, &maps);
    const AttentionShape& s = layer.sizes.shape;
    const std::vector<float>& weights = maps.mixed.empty() ? maps.weights : maps.mixed;
    const std::size_t heads = s.copies * s.value_heads;
    ASSERT_EQ(weights.size(), s.batch * heads * s.queries * s.keys);
    for (std::size_t b = 0; b < s.batch; ++b)
      for (std::size_t g = 0; g < heads; ++g)
        for (std::size_t i = 0; i < s.queries; ++i)
          for (std::size_t e = 0; e < s.value_size; ++e) {
            double sum = 0;
            for (std::size_t j = 0; j < s.keys; ++j)
              sum += double{weights[((b * heads + g) * s.queries + i) * s.keys + j]} *
                     double{layer.operands.v(b * s.keys + j, g / s.group * s.value_size + e)};
            EXPECT_NEAR(sum, layer.sums(b * s.queries + i, g * s.value_size + e),
                        1e-4 * (1 + std::abs(sum)))
                << layer.name;
          }
  }
}

// Without a head is what a model with that head's weights at 0 computes, layer by layer; the
// parameters stay.
TEST_P(Seen, WithoutAHeadIsWithItsMapAtZero) {
  testing::ModelCase c = GetParam();
  Model<float> model(c.config, c.io, c.batch, ModelUse::kInspection);
  init_params(model.table(), 5, model.params());
  const std::vector<float> params(model.params().data, model.params().data + model.table().size());
  std::vector<float> x = normals(c.batch * c.io.tokens * c.io.input_dim, 0),
                     y = normals(c.batch * c.io.queries * c.io.input_dim, 1);
  const View<const float, 3> input(x.data(), {c.batch, c.io.tokens, c.io.input_dim});
  View<const float, 3> query;
  if (c.io.queries > 0) query = {y.data(), {c.batch, c.io.queries, c.io.input_dim}};
  model.forward(input, query);
  const auto layers = model.attention();
  Model<float> zeroed(c.config, c.io, c.batch, ModelUse::kInspection);
  for (std::size_t site = layers.size(); site-- > 0;) {
    const AttentionShape& s = layers[site].sizes.shape;
    const std::size_t copy = s.copies - 1, head = s.heads - 1;
    const View<const float, 3> without = model.forward_without(site, copy, head);
    if (c.config.share_layers) continue;  // the layer's own parameters are all layers'
    std::copy(params.begin(), params.end(), zeroed.params().data);
    const auto tensor = [&](const std::string& name) {
      const ParamRow* row = zeroed.table().find(layers[site].name + name);
      return row == nullptr ? std::span<float>()
                            : zeroed.params().flat().subspan(row->offset, row->size);
    };
    const std::size_t g = copy * s.heads + head, v = s.value_size;
    const std::span<float> mix = tensor(".mix_weights.weight"), out = tensor(".output.weight");
    if (!mix.empty()) {
      for (std::size_t to = 0; to < s.value_heads; ++to)
        mix[(copy * s.value_heads + to) * s.heads + head] = 0;
    } else if (!out.empty()) {
      const std::size_t columns = s.copies * s.heads * v;
      for (std::size_t row = 0; row < c.config.width; ++row)
        std::fill_n(&out[row * columns + g * v], v, 0.0f);
    } else {
      std::ranges::fill(tensor(".value.weight").subspan(g * v * c.config.width, v * c.config.width),
                        0.0f);
      if (c.config.bias) std::ranges::fill(tensor(".value.bias").subspan(g * v, v), 0.0f);
    }
    const View<const float, 3> wanted = zeroed.forward(input, query);
    for (std::size_t e = 0; e < wanted.size(); ++e)
      ASSERT_EQ(without.data[e], wanted.data[e]) << layers[site].name << " entry " << e;
  }
  EXPECT_TRUE(std::equal(params.begin(), params.end(), model.params().data));
}

std::vector<testing::ModelCase> small_cases() { return testing::variant_cases(); }
INSTANTIATE_TEST_SUITE_P(Variants, Seen, ::testing::ValuesIn(small_cases()),
                         [](const auto& param) { return param.param.name; });

// One head that looks at the farthest point, by hand.
TEST(Inspect, AHandSetHeadIsSeenForWhatItIs) {
  TaskConfig t;
  t.dim = 6;
  t.points = 5;
  const std::unique_ptr<Task> task = make_task(t);
  ModelConfig config;
  config.width = 6;
  config.norm.type = NormType::kNone;
  config.ffn.width = 0;
  config.residual = config.bias = false;
  config.attention.scale = 1.0;
  const ParamTable table = parameter_table(config, model_io(*task));
  std::vector<float> params(table.size());
  const auto identity = [&](const char* name, float value) {
    const ParamRow* row = table.find(std::string("layers.0.attention.") + name + ".weight");
    for (std::size_t i = 0; i < 6; ++i) params[row->offset + i * 7] = value;
  };
  identity("query", -1000);
  identity("key", 1);
  identity("value", 2);
  identity("output", 1);
  const InspectPlan plan{.items = 40, .ablation_items = 20, .dump_items = 3};
  AttentionDump dump;
  const auto seen = inspect(*task, config, params, 0, plan, &dump, [] { return false; });
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->layers.size(), 1u);
  const HeadInspection& head = seen->layers[0].rows.at(0);
  EXPECT_NEAR(head.qk->angle_deg, 180, 1e-4);
  EXPECT_NEAR(head.qk->scale, 1000, 1e-6);
  EXPECT_NEAR(head.qk->effective_rank, 6, 1e-9);
  EXPECT_NEAR(head.ov->angle_deg, 0, 1e-4);
  EXPECT_NEAR(*head.attention->hit_rate, 1, 1e-12);
  EXPECT_GT(head.attention->max_weight, .98);
  EXPECT_LT(head.attention->entropy, .03);
  // It returns twice the point: loss about 1; nothing without it: exactly 1.
  EXPECT_NEAR(seen->loss.mean + head.loss_without->mean, 1, 1e-5);
  EXPECT_EQ(seen->tokens.size(), 2u);
  EXPECT_LT(seen->tokens[1].residual.mean, seen->tokens[0].residual.mean)
      << "farthest points are fewer than points";
  ASSERT_EQ(dump.tensors.size(), 4u);
  EXPECT_EQ(dump.tensors[3].name, "layers.0.attention.weights");
  EXPECT_EQ(dump.tensors[3].shape, (std::vector<std::size_t>{3, 1, 5, 5}));
  EXPECT_FALSE(inspect(*task, config, params, 0, plan, nullptr, [] { return true; }));
}

}  // namespace headroom::inspect_test
