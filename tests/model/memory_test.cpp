// Memory planned for the largest batch, and what smaller ones take of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/arena.h"
#include "model/init.h"
#include "model/model_case.h"

namespace headroom::memory_test {

// A gradient of `items` sequences of `tokens` tokens in a model that may be made for more.
std::vector<float> gradient(Model<float>& model, const testing::ModelCase& c, std::size_t items,
                            std::size_t tokens) {
  init_params(model.table(), 1, model.params());
  std::fill_n(model.grads().data, model.grads().size(), 0.0f);
  Arena<float> memory(items * tokens * (c.io.input_dim + c.io.output_dim) + 64);
  const View<float, 3> input = memory.take(items, tokens, c.io.input_dim),
                       doutput = memory.take(items, tokens, c.io.output_dim);
  for (std::size_t i = 0; i < input.size(); ++i)
    input.data[i] = static_cast<float>(i % 7) / 7.0f - 0.4f;
  model.gradient(input, {}, doutput, [](std::size_t, View<const float, 3> out, View<float, 3> d) {
    std::copy_n(out.data, out.size(), d.data);
    return 0.0;
  });
  return {model.grads().data, model.grads().data + model.grads().size()};
}

// What the smaller batch takes, it takes of a model made for the larger one, with the same numbers.
void expect_smaller_fits(testing::ModelCase larger, std::size_t items, std::size_t tokens) {
  testing::ModelCase smaller = larger;
  smaller.io.tokens = tokens;
  Model<float> own(smaller.config, smaller.io, items);
  Model<float> model(larger.config, larger.io, larger.batch);
  const std::vector<float> expected = gradient(own, smaller, items, tokens);
  EXPECT_EQ(gradient(model, larger, items, tokens), expected);
  EXPECT_GE(model.memory_bytes(), own.memory_bytes());
}

testing::ModelCase model_case(Mask mask, const ModelIo& io, std::size_t width, std::size_t hidden,
                              std::size_t heads, std::size_t head_size, std::size_t batch) {
  testing::ModelCase c = testing::base_case("memory", mask);
  c.io = io;
  c.batch = batch;
  c.config.width = width;
  c.config.ffn.width = hidden;
  c.config.attention.heads = heads;
  c.config.attention.key_size = c.config.attention.value_size = head_size;
  return c;
}

// 2,176 rows of 128 hidden units are computed again, 1,664 are kept: a curriculum's first steps
// wrote behind the memory that was planned for its last.
TEST(Memory, ShorterSequencesMayTakeMore) {
  testing::ModelCase c = model_case(Mask::kCausal, {8, 1, 34}, 32, 128, 8, 4, 64);
  c.config.layers = 6;
  Model<float> model(c.config, c.io, c.batch);
  const std::size_t planned = model.memory_bytes();
  gradient(model, c, c.batch, 26);
  EXPECT_EQ(model.memory_bytes(), planned) << "foreseen";
  expect_smaller_fits(c, c.batch, 26);
}

// 17 sequences are cut into 9 groups with a share of the gradients each, 16 into 16.
TEST(Memory, FewerSequencesMayTakeMore) {
  const testing::ModelCase c = model_case(Mask::kNone, {8, 8, 100}, 64, 64, 32, 16, 17);
  EXPECT_GT(Model<float>(c.config, c.io, 16).memory_bytes(),
            Model<float>(c.config, c.io, 17).memory_bytes());
  expect_smaller_fits(c, 16, c.io.tokens);
}

}  // namespace headroom::memory_test
