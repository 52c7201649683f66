// Softmax attention at its edges: extreme scores, rows that see nothing, and vector tails.
#include "kernels/attention_softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/arena.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "reference/attention_softmax.h"

namespace headroom::attention_test {

template <class S>
struct Problem {
  AttentionShape shape;
  Arena<S> memory;
  View<S, 2> q, k, v, z, dz, dq, dk, dv, scratch;
  View<S, 4> stats;

  explicit Problem(const AttentionShape& s, std::size_t scratch_floats)
      : shape(s), memory(1 << 18) {
    const std::size_t nq = s.batch * s.queries, nk = s.batch * s.keys;
    q = memory.take(nq, s.heads * s.key_size);
    k = memory.take(nk, s.heads * s.key_size);
    v = memory.take(nk, s.heads * s.value_size);
    z = memory.take(nq, s.heads * s.value_size);
    dz = memory.take(nq, s.heads * s.value_size);
    dq = memory.take(nq, s.heads * s.key_size);
    dk = memory.take(nk, s.heads * s.key_size);
    dv = memory.take(nk, s.heads * s.value_size);
    stats = memory.take(s.batch, s.heads, 2, s.queries);
    scratch = memory.take(static_cast<std::size_t>(threads()), scratch_floats);
  }
};

template <class S>
Matrix<const S> in(View<S, 2> v) {
  return View<const S, 2>(v);
}

Problem<float> fast_problem(const AttentionShape& s) {
  return Problem<float>(s, kernels::attention_scratch(s));
}

void fill(Problem<float>& p, float size) {
  Random(1, Purpose::kTest, 0, 0).fill_normal(p.q.flat());
  Random(1, Purpose::kTest, 0, 1).fill_normal(p.k.flat());
  Random(1, Purpose::kTest, 0, 2).fill_normal(p.v.flat());
  Random(1, Purpose::kTest, 0, 3).fill_normal(p.dz.flat());
  for (float& x : p.q.flat()) x *= size;
}

void run(Problem<float>& p) {
  kernels::attention_forward(Matrix<float>(p.z), p.stats, in(p.q), in(p.k), in(p.v), p.shape,
                             p.scratch);
  kernels::attention_backward(Matrix<float>(p.dq), Matrix<float>(p.dk), Matrix<float>(p.dv),
                              in(p.dz), p.stats, in(p.q), in(p.k), in(p.v), p.shape, p.scratch);
}

TEST(SoftmaxAttention, FollowsTheReferenceAtEveryLength) {
  for (std::size_t tokens = 1; tokens <= 67; ++tokens)
    for (const bool causal : {false, true}) {
      const AttentionShape s{.batch = 2,
                             .queries = tokens,
                             .keys = tokens,
                             .heads = tokens % 2 == 0 ? 3u : 11u,  // 11 narrow ones: lanes of heads
                             .key_size = 1 + tokens % 9,
                             .value_size = 1 + tokens % 5,
                             .scale = 0.7,
                             .causal = causal};
      Problem<float> fast = fast_problem(s);
      fill(fast, 1);
      run(fast);
      Problem<double> slow(s, reference::attention_scratch<double>(s));
      const auto copy = [](View<double, 2> to, View<float, 2> from) {
        std::copy_n(from.data, from.size(), to.data);
      };
      copy(slow.q, fast.q);
      copy(slow.k, fast.k);
      copy(slow.v, fast.v);
      copy(slow.dz, fast.dz);
      reference::attention_forward<double>(slow.z, slow.stats, in(slow.q), in(slow.k), in(slow.v),
                                           s, slow.scratch);
      reference::attention_backward<double>(slow.dq, slow.dk, slow.dv, in(slow.dz), slow.stats,
                                            in(slow.q), in(slow.k), in(slow.v), s, slow.scratch);
      const auto compare = [&](View<float, 2> got, View<double, 2> want, const char* what) {
        for (std::size_t i = 0; i < got.size(); ++i)
          ASSERT_NEAR(static_cast<double>(got.data[i]), want.data[i], 2e-5)
              << what << " at " << tokens << " tokens";
      };
      compare(fast.z, slow.z, "z");
      compare(fast.dq, slow.dq, "dq");
      compare(fast.dk, slow.dk, "dk");
      compare(fast.dv, slow.dv, "dv");
    }
}

TEST(SoftmaxAttention, ExtremeScoresStayFinite) {
  for (const float size : {0.0f, 1e4f, 2e37f}) {
    const AttentionShape s{.batch = 1,
                           .queries = 9,
                           .keys = 9,
                           .heads = 2,
                           .key_size = 3,
                           .value_size = 4,
                           .scale = 1.0,
                           .causal = false};
    Problem<float> p = fast_problem(s);
    fill(p, size);
    for (float& x : p.k.flat()) x = x < 0 ? -1.0f : 1.0f;
    for (float& x : p.v.flat()) x = 1.0f;  // rows of weights that sum to 1 give exactly the value
    run(p);
    for (float z : p.z.flat()) EXPECT_NEAR(z, 1.0f, 1e-5f) << size;
    for (const auto& d : {p.dq, p.dk, p.dv})
      for (float x : d.flat()) EXPECT_TRUE(std::isfinite(x)) << size;
  }
}

TEST(SoftmaxAttention, RowsThatSeeNothingGiveZero) {
  // No keys at all: each query's output and gradient are 0, and nothing else is touched.
  const AttentionShape s{.batch = 2,
                         .queries = 3,
                         .keys = 0,
                         .heads = 2,
                         .key_size = 4,
                         .value_size = 5,
                         .scale = 1.0,
                         .causal = false};
  Problem<float> p = fast_problem(s);
  fill(p, 1);
  for (float& x : p.z.flat()) x = 7;
  for (float& x : p.dq.flat()) x = 7;
  run(p);
  for (float z : p.z.flat()) EXPECT_EQ(z, 0.0f);
  for (float d : p.dq.flat()) EXPECT_EQ(d, 0.0f);
}

}  // namespace headroom::attention_test
