// One token more behind tokens that the model has seen, against a forward of the whole sequence.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/rng.h"
#include "model/cases.h"

namespace headroom::next_token_test {

// The model for evaluation, with parameters away from where they start.
template <class S>
struct Evaluated {
  Model<S> model;
  explicit Evaluated(const testing::ModelCase& c)
      : model(c.config, c.io, c.batch, ModelUse::kAnswering) {
    std::vector<float> start(model.table().size()), noise(start.size());
    init_params(model.table(), 3, {start.data(), {start.size()}});
    Random(1, Purpose::kTest, 0, 0).fill_normal(noise);
    for (std::size_t i = 0; i < start.size(); ++i)
      model.params()(i) = static_cast<S>(start[i] + .1f * noise[i]);
  }
};

// (B,T,D) of normal numbers.
template <class S>
std::vector<S> tokens_of(const testing::ModelCase& c, std::uint64_t stream) {
  std::vector<float> drawn(c.batch * c.io.tokens * c.io.input_dim);
  Random(1, Purpose::kTest, 1, stream).fill_normal(drawn);
  return {drawn.begin(), drawn.end()};
}

// At every position, from the last to the first: another token there, by either way. False where
// the model keeps nothing to continue from.
template <class S>
bool expect_as_a_whole_forward(const testing::ModelCase& c, double tolerance) {
  const std::size_t batch = c.batch, n = c.io.tokens, d = c.io.input_dim, o = c.io.output_dim;
  Evaluated<S> continued(c), whole(c);
  const std::vector<S> seen = tokens_of<S>(c, 0), other = tokens_of<S>(c, 1);
  const View<const S, 3> input(seen.data(), {batch, n, d});
  const View<const S, 3> output = continued.model.forward(input);
  const std::vector<S> output_before(output.data, output.data + output.size());
  if (!continued.model.continues()) return false;
  for (std::size_t position = n; position-- > 0;) {
    std::vector<S> prompt, token;
    for (std::size_t b = 0; b < batch; ++b) {
      const S* const from = other.data() + (b * n + position) * d;
      prompt.insert(prompt.end(), &input(b, std::size_t{0}, std::size_t{0}),
                    &input(b, std::size_t{0}, std::size_t{0}) + position * d);
      prompt.insert(prompt.end(), from, from + d);
      token.insert(token.end(), from, from + d);
    }
    const View<const S, 3> fast = continued.model.forward_next({token.data(), {batch, 1, d}},
                                                               position),
                           slow = whole.model.forward({prompt.data(), {batch, position + 1, d}});
    double top = 0, worst = 0;
    for (std::size_t b = 0; b < batch; ++b) {
      for (std::size_t e = 0; e < o; ++e) {
        const auto wanted = static_cast<double>(slow(b, position, e));
        top = std::max(top, std::abs(wanted));
        worst = std::max(worst, std::abs(static_cast<double>(fast(b, std::size_t{0}, e)) - wanted));
      }
    }
    EXPECT_LE(worst, tolerance * top) << c.name << " at " << position;
  }
  EXPECT_TRUE(std::ranges::equal(output.flat(), output_before)) << c.name;
  return true;
}

TEST(NextToken, IsWhatAForwardOfTheWholeGives) {
  std::size_t continued = 0, in_one_kernel = 0;
  for (const testing::ModelCase& c : testing::model_cases()) {
    if (c.io.queries > 0) continue;
    const bool possible = c.config.attention.mask == Mask::kCausal;
    EXPECT_EQ(expect_as_a_whole_forward<double>(c, 1e-12), possible) << c.name;
    if (!possible) continue;
    (expect_as_a_whole_forward<float>(c, 1e-5) ? continued : in_one_kernel) += 1;
  }
  EXPECT_GT(continued, 60u);
  EXPECT_LT(in_one_kernel, continued);
}

// Behind the last token of a shorter forward too.
TEST(NextToken, MayBeTheFirstThatWasNotThere) {
  std::size_t continued = 0;
  for (const testing::ModelCase& c : testing::model_cases()) {
    if (c.io.queries > 0 || c.config.attention.mask != Mask::kCausal) continue;
    const std::size_t n = c.io.tokens, d = c.io.input_dim;
    testing::ModelCase one = c;
    one.batch = 1;  // its tokens lie one behind the other
    Evaluated<double> model(one), whole(one);
    const std::vector<double> seen = tokens_of<double>(one, 0);
    model.model.forward({seen.data(), {1, n - 1, d}});
    ASSERT_TRUE(model.model.continues()) << c.name;
    const View<const double, 3> fast =
        model.model.forward_next({seen.data() + (n - 1) * d, {1, 1, d}}, n - 1);
    const View<const double, 3> slow = whole.model.forward({seen.data(), {1, n, d}});
    for (std::size_t e = 0; e < c.io.output_dim; ++e)
      EXPECT_NEAR(fast(0, 0, e), slow(0, n - 1, e), 1e-12 * (1 + std::abs(slow(0, n - 1, e))))
          << c.name;
    ++continued;
  }
  EXPECT_GT(continued, 60u);
}

// Where there is a gradient or something to look at, and before a first forward, there is nothing
// to continue.
TEST(NextToken, IsOfEvaluatedModelsOnly) {
  const testing::ModelCase c = testing::base_case("plain", Mask::kCausal);
  const std::vector<float> seen = tokens_of<float>(c, 0);
  for (const ModelUse use : {ModelUse::kTraining, ModelUse::kAnswering, ModelUse::kInspection}) {
    Model<float> model(c.config, c.io, c.batch, use);
    EXPECT_FALSE(model.continues());
    model.forward({seen.data(), {c.batch, c.io.tokens, c.io.input_dim}});
    EXPECT_EQ(model.continues(), use == ModelUse::kAnswering);
  }
}

}  // namespace headroom::next_token_test
