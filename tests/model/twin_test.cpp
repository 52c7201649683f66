// The float path (fast kernels) against the double path (reference loops), and what a mask and the
// absence of positions promise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/arena.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "model/cases.h"
#include "model/ops.h"

namespace headroom::twin_test {

template <class S>
struct Step {
  Model<S> model;
  Arena<S> memory;
  View<S, 3> input, query, doutput;  // query is empty where the tokens ask themselves
  Step(const testing::ModelCase& c, View<const float, 1> params, View<const float, 3> tokens,
       View<const float, 3> queries)
      : model(c.config, c.io, c.batch),
        memory(tokens.size() + queries.size() + c.batch * testing::askers(c) * c.io.output_dim +
               64),
        input(memory.take(c.batch, c.io.tokens, c.io.input_dim)),
        query(memory.take(c.batch, c.io.queries, c.io.input_dim)),
        doutput(memory.take(c.batch, testing::askers(c), c.io.output_dim)) {
    std::copy_n(params.data, params.size(), model.params().data);
    std::copy_n(tokens.data, tokens.size(), input.data);
    std::copy_n(queries.data, queries.size(), query.data);
  }
  View<const S, 3> forward() { return model.forward(input, query); }
};

struct Data {
  Arena<float> memory;
  View<float, 1> params;
  View<float, 3> input, query, target;
  explicit Data(const testing::ModelCase& c) : memory(1 << 20) {
    Model<float> model(c.config, c.io, 1);
    const std::size_t predictions = (testing::askers(c) + c.stride - 1) / c.stride;
    params = memory.take(model.table().size());
    input = memory.take(c.batch, c.io.tokens, c.io.input_dim);
    target = memory.take(c.batch, predictions, c.io.output_dim);
    query = memory.take(c.batch, c.io.queries, c.io.input_dim);
    init_params(model.table(), 3, params);
    std::vector<float> noise(params.size());
    Random(1, Purpose::kTest, 0, 0).fill_normal(noise);
    for (std::size_t i = 0; i < params.size(); ++i) params(i) += 0.1f * noise[i];
    Random(1, Purpose::kTest, 0, 1).fill_normal(input.flat());
    Random(1, Purpose::kTest, 0, 2).fill_normal(target.flat());
    Random(1, Purpose::kTest, 0, 3).fill_normal(query.flat());
  }
};

void expect_float_follows_double(const testing::ModelCase& c) {
  const Data data(c);
  Step<float> fast(c, data.params, data.input, data.query);
  Step<double> slow(c, data.params, data.input, data.query);
  const double scale = 1.0 / static_cast<double>(data.target.dims[0] * data.target.dims[1]);
  const View<const float, 3> y = fast.forward();
  const View<const double, 3> y_slow = slow.forward();
  double top = 0, worst = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    top = std::max(top, std::abs(y_slow.data[i]));
    worst = std::max(worst, std::abs(static_cast<double>(y.data[i]) - y_slow.data[i]));
  }
  EXPECT_LE(worst, 1e-5 * top) << c.name;
  ops::squared_loss<float>(fast.doutput, y, data.target, ReadAt{.stride = c.stride}, scale);
  ops::squared_loss<double>(slow.doutput, y_slow, data.target, ReadAt{.stride = c.stride}, scale);
  fast.model.backward(fast.input, fast.doutput, fast.query);
  slow.model.backward(slow.input, slow.doutput, slow.query);
  double model_largest = 0;
  for (double g : slow.model.grads().flat()) model_largest = std::max(model_largest, std::abs(g));
  for (const ParamRow& row : slow.model.table().rows()) {
    double largest = 0, error = 0;
    for (std::size_t i = row.offset; i < row.offset + row.size; ++i) {
      largest = std::max(largest, std::abs(slow.model.grads()(i)));
      error = std::max(
          error, std::abs(static_cast<double>(fast.model.grads()(i)) - slow.model.grads()(i)));
    }
    if (testing::without_effect(c, row.name))
      EXPECT_LE(error, 1e-6 * model_largest) << c.name << ": " << row.name;
    else  // a lone scalar sums over every row and may cancel further
      EXPECT_LE(error, 1e-5 * std::max(largest, (row.size == 1 ? 3e-2 : 1e-3) * model_largest))
          << c.name << ": " << row.name;
  }
}

class Twins : public ::testing::TestWithParam<testing::ModelCase> {};

TEST_P(Twins, FloatFollowsDouble) { expect_float_follows_double(GetParam()); }

class SizedTwins : public ::testing::TestWithParam<testing::Variant> {};

TEST_P(SizedTwins, FloatFollowsDoubleAtEverySize) {
  for (const testing::ModelCase& c : testing::sized_cases(GetParam()))
    expect_float_follows_double(c);
}

INSTANTIATE_TEST_SUITE_P(Variants, SizedTwins, ::testing::ValuesIn(testing::kVariants),
                         [](const auto& variant) { return std::string(variant.param.name); });

TEST_P(Twins, TheMaskHidesTheFuture) {
  const testing::ModelCase& c = GetParam();
  if (c.config.attention.mask != Mask::kCausal)
    return;  // the unmasked half of the table has its test below
  const Data data(c);
  Step<float> step(c, data.params, data.input, data.query);
  const View<const float, 3> y = step.forward();
  const std::vector<float> before(y.data, y.data + y.size());
  // The masked sequence: a decoder's is that of the queries.
  const View<float, 3> masked = c.io.queries > 0 ? step.query : step.input;
  const View<const float, 3> original = c.io.queries > 0 ? data.query : data.input;
  const std::size_t tokens = testing::askers(c);
  for (std::size_t t = 0; t < tokens; ++t) {
    std::copy_n(original.data, original.size(), masked.data);
    for (std::size_t d = 0; d < c.io.input_dim; ++d)
      masked(std::size_t{0}, t, d) = 9.0f - masked(std::size_t{0}, t, d);
    step.forward();
    const std::size_t visible = t * c.io.output_dim, item = tokens * c.io.output_dim;
    EXPECT_EQ(std::memcmp(y.data, before.data(), visible * sizeof(float)), 0) << "token " << t;
    EXPECT_EQ(std::memcmp(y.data + item, before.data() + item, item * sizeof(float)), 0)
        << "the other sequence";
    EXPECT_NE(
        std::memcmp(y.data + visible, before.data() + visible, c.io.output_dim * sizeof(float)), 0)
        << "token " << t;
  }
}

TEST_P(Twins, WithoutPositionsTokensAreASet) {
  const testing::ModelCase& c = GetParam();
  if (c.config.attention.mask == Mask::kCausal || c.config.positions.type != PositionsType::kNone)
    return;
  const Data data(c);
  Step<float> step(c, data.params, data.input, data.query);
  const View<const float, 3> y = step.forward();
  const std::vector<float> before(y.data, y.data + y.size());
  const std::size_t tokens = c.io.tokens;  // reversed order in, reversed order out
  for (std::size_t t = 0; t < tokens; ++t)
    for (std::size_t d = 0; d < c.io.input_dim; ++d)
      step.input(std::size_t{0}, t, d) = data.input(std::size_t{0}, tokens - 1 - t, d);
  step.forward();
  const std::size_t askers = testing::askers(c);  // with queries of their own: the same order out
  for (std::size_t t = 0; t < askers; ++t)
    for (std::size_t o = 0; o < c.io.output_dim; ++o) {
      const std::size_t from = c.io.queries > 0 ? t : askers - 1 - t;
      EXPECT_NEAR(y(std::size_t{0}, t, o), before[from * c.io.output_dim + o], 2e-5);
    }
}

INSTANTIATE_TEST_SUITE_P(Variants, Twins, ::testing::ValuesIn(testing::model_cases()),
                         [](const auto& variant) { return variant.param.name; });

// Talking heads that start as the identity are plain heads: bit for bit where the scores are mixed,
// and up to rounding where the weights are, which are then finished before they sum the values.
TEST(TalkingHeads, IdentityMixingIsPlainAttention) {
  for (const Mask mask : {Mask::kNone, Mask::kCausal}) {
    testing::ModelCase c = testing::model_cases().front();
    c.io.tokens = 19;
    c.config.attention.mask = mask;
    const Data data(c);
    const auto output_of = [&](MixInit scores, MixInit weights) {
      testing::ModelCase mixed = c;
      mixed.config.attention.mix_scores = scores;
      mixed.config.attention.mix_weights = weights;
      Model<float> model(mixed.config, mixed.io, mixed.batch);
      init_params(model.table(), 3, model.params());
      // The plain model's parameters, with the mixers as they start.
      Model<float> plain(c.config, c.io, c.batch);
      init_params(plain.table(), 4, plain.params());
      for (const ParamRow& row : plain.table().rows())
        std::copy_n(&plain.params()(row.offset), row.size,
                    &model.params()(model.table().find(row.name)->offset));
      const View<const float, 3> y = model.forward(data.input);
      return std::vector<float>(y.data, y.data + y.size());
    };
    const std::vector<float> plain = output_of(MixInit::kNone, MixInit::kNone);
    EXPECT_EQ(output_of(MixInit::kIdentity, MixInit::kNone), plain);
    const std::vector<float> weights = output_of(MixInit::kNone, MixInit::kIdentity);
    for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(weights[i], plain[i], 1e-6f);
    EXPECT_NE(output_of(MixInit::kFanIn, MixInit::kNone), plain);
  }
}

// One model with many more tiles than threads in every loop, on 1, 2, 3 and 8 threads.
void expect_equal_on_any_threads(MixInit mix) {
  testing::ModelCase c;
  c.config.attention.mix_scores = c.config.attention.mix_weights = mix;
  c.io = {64, 64, 16};
  c.batch = 64;
  c.config.width = 64;
  c.config.ffn.width = 300;
  c.config.attention.heads = 4;
  c.config.attention.copies = 3;
  Arena<float> memory(1 << 20);
  std::vector<std::vector<float>> results;
  for (const int n : {1, 2, 3, 8}) {
    set_threads(n);
    Model<float> model(c.config, c.io, c.batch);
    init_params(model.table(), 5, model.params());
    memory.rewind(0);
    const View<float, 3> input = memory.take(c.batch, c.io.tokens, c.io.input_dim);
    const View<float, 3> target = memory.take(c.batch, c.io.tokens, c.io.output_dim);
    const View<float, 3> doutput = memory.take(c.batch, c.io.tokens, c.io.output_dim);
    Random(1, Purpose::kTest, 0, 1).fill_normal(input.flat());
    Random(1, Purpose::kTest, 0, 2).fill_normal(target.flat());
    ops::squared_loss<float>(doutput, model.forward(input), target, ReadAt{}, 1e-3);
    model.backward(input, doutput);
    results.emplace_back(model.grads().data, model.grads().data + model.grads().size());
  }
  set_threads(default_threads().threads);
  for (std::size_t i = 1; i < results.size(); ++i)
    EXPECT_EQ(std::memcmp(results[0].data(), results[i].data(), results[0].size() * sizeof(float)),
              0);
}

TEST(Threads, DoNotChangeABit) {
  expect_equal_on_any_threads(MixInit::kNone);
  expect_equal_on_any_threads(MixInit::kFanIn);
}

}  // namespace headroom::twin_test
