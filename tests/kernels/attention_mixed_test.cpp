// Mixed attention at its edges: rows that see nothing, and weights without a gradient.
#include "kernels/attention_mixed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "core/arena.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "reference/attention_mixed.h"

namespace headroom::attention_mixed_test {

// Random operands of one shape, with both mixers and biases by distance.
struct Problem {
  AttentionShape shape;
  Arena<float> memory{1 << 18};
  View<float, 2> q, k, v, z, dz, dq, dk, dv, scratch;
  View<float, 4> stats;
  View<float, 1> partials;
  AttentionMixers<float> mixers, dmixers;
  std::uint64_t drawn = 0;

  template <class... D>
  auto random(D... dims) {
    auto view = memory.take(dims...);
    Random(5, Purpose::kTest, 0, drawn++).fill_normal(view.flat());
    return view;
  }
  explicit Problem(const AttentionShape& s, bool mixed) : shape(s) {
    const std::size_t nq = s.batch * s.queries, nk = s.batch * s.keys, c = s.copies;
    q = random(nq, c * s.score_heads * s.key_size);
    k = random(nk, c * s.score_heads * s.key_size);
    v = random(nk, c * s.value_heads * s.value_size);
    z = random(nq, c * s.value_heads * s.value_size);
    dz = random(nq, c * s.value_heads * s.value_size);
    dq = random(nq, c * s.score_heads * s.key_size);
    dk = random(nk, c * s.score_heads * s.key_size);
    dv = random(nk, c * s.value_heads * s.value_size);
    stats = memory.take(s.batch, c * s.heads, 2, s.queries);
    if (mixed) {
      const std::size_t distances = s.queries + s.keys - 1;
      mixers = {random(c, s.heads, s.score_heads), random(c, s.value_heads, s.heads),
                random(c * s.heads, distances)};
      dmixers = {memory.take(c, s.heads, s.score_heads), memory.take(c, s.value_heads, s.heads),
                 memory.take(c * s.heads, distances)};
    }
    shape.mixes_scores = shape.mixes_weights = mixed;
    partials = memory.take(kernels::mixed_attention_partials(shape));
    scratch =
        memory.take(static_cast<std::size_t>(threads()), kernels::mixed_attention_scratch(shape));
  }
  static Matrix<const float> in(View<float, 2> m) { return View<const float, 2>(m); }
  void forward() {
    kernels::mixed_attention_forward(Matrix<float>(z), stats, in(q), in(k), in(v),
                                     read_only(mixers), shape, scratch);
  }
  void backward() {
    kernels::mixed_attention_backward(Matrix<float>(dq), Matrix<float>(dk), Matrix<float>(dv),
                                      dmixers, in(dz), stats, in(q), in(k), in(v),
                                      read_only(mixers), shape, partials, scratch);
  }
};

AttentionShape shape_of(AttentionType type, std::size_t keys) {
  return {.batch = 2,
          .queries = 19,
          .keys = keys,
          .copies = 2,
          .score_heads = 3,
          .heads = 2,
          .value_heads = 4,
          .key_size = 5,
          .value_size = 6,
          .biased = true,
          .scale = 0.6,
          .type = type};
}

TEST(MixedAttention, RowsThatSeeNothingGiveZero) {
  for (const AttentionType type : {AttentionType::kSoftmax, AttentionType::kLinear,
                                   AttentionType::kRelu, AttentionType::kSigmoid}) {
    Problem p(shape_of(type, 0), true);
    p.forward();
    p.backward();
    for (const float z : p.z.flat()) EXPECT_EQ(z, 0.0f);
    for (const float d : p.dq.flat()) EXPECT_EQ(d, 0.0f);
    for (const float d : p.dmixers.scores.flat()) EXPECT_EQ(d, 0.0f);
    for (const float d : p.dmixers.weights.flat()) EXPECT_EQ(d, 0.0f);
    for (const float d : p.dmixers.bias.flat()) EXPECT_EQ(d, 0.0f);
  }
}

TEST(MixedAttention, HardWeightsTakeTheFirstOfTheLargest) {
  for (const bool causal : {false, true}) {
    AttentionShape s = shape_of(AttentionType::kHard, 19);
    s.score_heads = s.value_heads = s.heads;
    s.causal = causal;
    Problem p(s, false);
    for (float& x : p.k.flat()) x = x > 0 ? 1.0f : 0.0f;  // many ties
    for (float& x : p.q.flat()) x = x > 0 ? 1.0f : -1.0f;
    p.forward();
    for (std::size_t b = 0; b < s.batch; ++b)
      for (std::size_t g = 0; g < s.copies * s.heads; ++g)
        for (std::size_t i = 0; i < s.queries; ++i) {
          float top = -std::numeric_limits<float>::infinity();
          std::size_t first = 0;
          for (std::size_t j = 0; j < (causal ? i + 1 : s.keys); ++j) {
            float score = 0;
            for (std::size_t c = 0; c < s.key_size; ++c)
              score += p.q(b * s.queries + i, g * s.key_size + c) *
                       p.k(b * s.keys + j, g * s.key_size + c);
            if (score > top) {
              top = score;
              first = j;
            }
          }
          for (std::size_t c = 0; c < s.value_size; ++c)
            ASSERT_EQ(p.z(b * s.queries + i, g * s.value_size + c),
                      p.v(b * s.keys + first, g * s.value_size + c))
                << "query " << i << " of head " << g;
        }
  }
}

TEST(MixedAttention, HardWeightsFollowTheirTwin) {
  AttentionShape s = shape_of(AttentionType::kHard, 7);
  Problem p(s, true);
  p.forward();
  Arena<double> memory(1 << 16);
  const auto wide = [&](auto view) {
    const auto copy = std::apply([&](auto... d) { return memory.take(d...); }, view.dims);
    std::copy_n(view.data, view.size(), copy.data);
    return copy;
  };
  const View<double, 2> q = wide(p.q), k = wide(p.k), v = wide(p.v), z = wide(p.z);
  const AttentionMixers<double> mixers{wide(p.mixers.scores), wide(p.mixers.weights),
                                       wide(p.mixers.bias)};
  const View<double, 2> scratch = memory.take(1, reference::mixed_attention_scratch<double>(s));
  reference::mixed_attention_forward<double>(z, {}, View<const double, 2>(q),
                                             View<const double, 2>(k), View<const double, 2>(v),
                                             read_only(mixers), s, scratch);
  for (std::size_t i = 0; i < z.size(); ++i)
    ASSERT_NEAR(static_cast<double>(p.z.data[i]), z.data[i], 1e-5) << i;
}

TEST(MixedAttention, ANanIsNoHardWeight) {
  AttentionShape s = shape_of(AttentionType::kHard, 4);
  s.score_heads = s.value_heads = s.heads;
  Problem p(s, false);
  p.k.data[0] = std::numeric_limits<float>::quiet_NaN();
  p.forward();
  EXPECT_TRUE(std::isnan(p.z.data[0]));  // divergence must be seen
}

}  // namespace headroom::attention_mixed_test
