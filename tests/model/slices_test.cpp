// Model::gradient, which takes a small model's batch in slices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/arena.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "model/init.h"
#include "model/model_case.h"
#include "model/ops.h"

namespace headroom::slices_test {

// Half the squares of the output, whose gradient is the output.
template <class S>
double half_square(View<const S, 3> output, View<S, 3> doutput) {
  double sum = 0;
  for (std::size_t i = 0; i < output.size(); ++i) {
    doutput.data[i] = output.data[i];
    sum += 0.5 * static_cast<double>(output.data[i] * output.data[i]);
  }
  return sum;
}

template <class S>
struct Job {
  testing::ModelCase c;
  Model<S> model;
  Arena<S> memory{1 << 17};
  View<S, 3> input, doutput;

  Job(std::size_t batch, std::size_t most,
      const testing::ModelCase& model_case = testing::base_case("slices", Mask::kNone))
      : c(model_case), model(c.config, c.io, most) {
    std::vector<float> drawn(model.table().size());
    init_params(model.table(), 3, View<float, 1>(drawn.data(), {drawn.size()}));
    std::copy(drawn.begin(), drawn.end(), model.params().data);
    input = memory.take(batch, c.io.tokens, c.io.input_dim);
    doutput = memory.take(batch, c.io.tokens, c.io.output_dim);
    std::vector<float> noise(input.size());
    Random(1, Purpose::kTest, 0, 0).fill_normal(noise);
    std::copy(noise.begin(), noise.end(), input.data);
  }

  std::size_t calls = 0;
  double gradient() {
    std::fill_n(model.grads().data, model.grads().size(), S{});
    std::vector<std::size_t> items_of(input.dims[0], 0);
    const double loss = model.gradient(input, {}, doutput,
                                       [&](std::size_t first, View<const S, 3> out, View<S, 3> d) {
                                         items_of[first] = out.dims[0];
                                         return half_square(out, d);
                                       });
    calls =
        input.dims[0] - static_cast<std::size_t>(std::count(items_of.begin(), items_of.end(), 0u));
    return loss;
  }
  std::vector<S> grads() { return {model.grads().data, model.grads().data + model.grads().size()}; }
};

// 60 items of 5 tokens: slices of 26, the last of 8.
constexpr std::size_t kItems = 60;

TEST(Slices, AddUpToTheWholeBatch) {
  Job<double> job(kItems, kItems);
  const double loss = job.gradient();
  EXPECT_EQ(job.calls, 3u);
  const std::vector<double> sliced = job.grads();
  std::fill_n(job.model.grads().data, sliced.size(), 0.0);
  EXPECT_NEAR(loss, half_square(job.model.forward(job.input), job.doutput), 1e-12 * loss);
  job.model.backward(job.input, job.doutput);
  const std::vector<double> whole = job.grads();
  double largest = 0;
  for (const double g : whole) largest = std::max(largest, std::abs(g));
  ASSERT_GT(largest, 0);
  for (std::size_t i = 0; i < whole.size(); ++i)
    EXPECT_NEAR(sliced[i], whole[i], 1e-12 * largest) << i;
}

TEST(Slices, ThreadsChangeNoBit) {
  const int before = threads();
  set_threads(1);
  Job<float> one(kItems, kItems);
  const double loss = one.gradient();
  const std::vector<float> grads = one.grads();
  for (const int n : {2, 3, 8}) {
    set_threads(n);
    Job<float> job(kItems, kItems);
    EXPECT_EQ(job.gradient(), loss) << n;
    EXPECT_EQ(job.grads(), grads) << n;
  }
  set_threads(before);
}

TEST(Slices, ASmallerBatchLeavesNothingOfALargerOne) {
  Job<double> large(kItems, kItems), small(30, kItems);
  large.gradient();
  const std::vector<double> all = large.grads();
  large.input = large.input.range(0, 30);
  large.doutput = large.doutput.range(0, 30);
  EXPECT_EQ(large.gradient(), small.gradient());
  EXPECT_EQ(small.calls, 2u);
  EXPECT_EQ(large.grads(), small.grads());
  EXPECT_NE(large.grads(), all);
}

// 960 items of 5 tokens and 60 layers of width 16: parts of 320 items.
constexpr std::size_t kManyItems = 960, kPart = 320;

testing::ModelCase large_case() {
  testing::ModelCase c = testing::base_case("parts", Mask::kNone);
  c.config.width = 16;
  c.config.layers = 60;
  c.config.ffn.width = 16;
  return c;
}

TEST(Parts, OfALargeModelAddUp) {
  Job<float> whole(kManyItems, kManyItems, large_case()), part(kPart, kPart, large_case());
  ASSERT_EQ(whole.model.items_at_once(), kPart);
  ASSERT_EQ(part.model.items_at_once(), kPart);
  EXPECT_LT(whole.model.memory_bytes(), part.model.memory_bytes() * 11 / 10);
  const double loss = whole.gradient();
  EXPECT_EQ(whole.calls, 3u);
  double sum = 0;
  for (std::size_t first = 0; first < kManyItems; first += kPart)
    sum += part.model.gradient(whole.input.range(first, kPart), {}, part.doutput,
                               [](std::size_t, View<const float, 3> out, View<float, 3> d) {
                                 return half_square(out, d);
                               });
  EXPECT_EQ(loss, sum);
  EXPECT_EQ(whole.grads(), part.grads());
  const View<const float, 3> out = whole.model.forward(whole.input);
  for (std::size_t first = 0; first < kManyItems; first += kPart) {
    const View<const float, 3> some = part.model.forward(whole.input.range(first, kPart));
    ASSERT_TRUE(std::equal(some.data, some.data + some.size(), out.range(first, kPart).data));
  }
}

// Of the shapes alone: what a thread needs for itself would be above the border for 1024 of them.
TEST(Parts, DoNotDependOnTheThreads) {
  testing::ModelCase c = large_case();
  c.config.layers = 20;
  const int before = threads();
  set_threads(1);
  const std::size_t alone =
      Model<float>(c.config, c.io, kManyItems, ModelUse::kAnswering).items_at_once();
  set_threads(1024);
  const std::size_t crowd =
      Model<float>(c.config, c.io, kManyItems, ModelUse::kAnswering).items_at_once();
  set_threads(before);
  EXPECT_EQ(alone, kManyItems);
  EXPECT_EQ(crowd, kManyItems);
}

}  // namespace headroom::slices_test
