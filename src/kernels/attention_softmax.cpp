#include "kernels/attention_softmax.h"

#include <algorithm>
#include <utility>

#include "core/parallel.h"
#include "kernels/attention_narrow.h"
#include "kernels/attention_pieces.h"
#include "kernels/attention_weights.h"

namespace headroom::kernels {
namespace {

// Scores are kept with the queries along the vector: (Tk, tq), tq = Tq rounded up. Every sum over
// the keys then runs lane by lane, without a horizontal step.
struct Buffers {
  std::size_t tq, kp, vp;  // padded Tq, K, V
  float* queries_t;        // (K, tq) q^T times the scale
  float* dz_t;             // (V, tq)
  float* rows;             // (Tq, kp or vp) q or dz, padded
  float* scores;           // (Tk, tq) scores, then weights
  float* dscores;          // (Tk, tq)
  float* out;  // (K or V, tq) or (Tk, kp or vp): a product before it is copied to its place

  static std::size_t widest(const AttentionShape& s) {
    return round_up_to_lanes(std::max(s.key_size, s.value_size));
  }
  static std::size_t floats(const AttentionShape& s) {
    const std::size_t tq = round_up_to_lanes(s.queries),
                      t = round_up_to_lanes(std::max(s.queries, s.keys));
    return (s.key_size + s.value_size + 2 * s.keys) * tq + 2 * t * widest(s);
  }
  Buffers(const AttentionShape& s, float* p)
      : tq(round_up_to_lanes(s.queries)),
        kp(round_up_to_lanes(s.key_size)),
        vp(round_up_to_lanes(s.value_size)) {
    const std::size_t t = round_up_to_lanes(std::max(s.queries, s.keys));
    const auto cut = [&](std::size_t n) { return std::exchange(p, p + n); };
    queries_t = cut(s.key_size * tq);
    dz_t = cut(s.value_size * tq);
    scores = cut(s.keys * tq);
    dscores = cut(s.keys * tq);
    rows = cut(t * widest(s));
    out = cut(t * widest(s));
  }
};

// What a panel of queries that begins at i needs of the keys: those its last query sees.
struct Visible {
  const AttentionShape& s;
  std::size_t operator()(std::size_t i) const {
    return s.causal ? std::min(i + kPanel, s.keys) : s.keys;
  }
};

// to (Tk, size): row j is factor times the sum over queries i of weights(j, i) * a(i, :): dk from
// the gradients of the scores, dv from the weights. a (Tq, size); a_t (size, tq) is a^T, padded.
void sum_over_queries(Matrix<float> to, const float* weights, const Buffers& buf, const float* a_t,
                      Matrix<const float> a, float factor, const AttentionShape& s) {
  if (to.cols < kLanes / 2) {  // few columns: a dot product each wastes less than padding them
    for (std::size_t j = 0; j < to.rows; ++j)
      for (std::size_t c = 0; c < to.cols; ++c) {
        Vec sum{};
        for (std::size_t i = s.causal ? j / kLanes * kLanes : 0; i < buf.tq; i += kLanes)
          sum += load(weights + j * buf.tq + i) * load(a_t + c * buf.tq + i);
        to.data[j * to.stride + c] = factor * horizontal_sum(sum);
      }
    return;
  }
  const std::size_t padded = round_up_to_lanes(to.cols);
  copy_padded(buf.rows, padded, a);
  // Causal: key j is seen from query j on, so blocks of keys skip the queries before them.
  constexpr std::size_t kBlock = 16;
  for (std::size_t j = 0; j < to.rows; j += kBlock) {
    const std::size_t first = s.causal ? std::min(j, a.rows) : 0, n = std::min(kBlock, to.rows - j);
    small_matmul(
        buf.out, padded, {weights + j * buf.tq + first, buf.tq, 1}, buf.rows + first * padded,
        padded, padded, [&](std::size_t) { return n; },
        [&](std::size_t) { return a.rows - first; });
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < to.cols; ++c)
        to.data[(j + r) * to.stride + c] = factor * buf.out[r * padded + c];
  }
}

// buf.scores = the scaled scores of the pairs that are wanted; buf.queries_t is filled.
void head_scores(const Buffers& buf, Matrix<const float> q, Matrix<const float> k,
                 const AttentionShape& s) {
  transpose_in(buf.queries_t, buf.tq, q, static_cast<float>(s.scale));
  small_matmul(buf.scores, buf.tq, {k.data, k.stride, 1}, buf.queries_t, buf.tq, buf.tq, Visible{s},
               [&](std::size_t) { return s.key_size; });
}

// Leaves the exponentials of the scores in buf.scores.
void head_forward(const Buffers& buf, Matrix<float> z, float* stats, Matrix<const float> q,
                  Matrix<const float> k, Matrix<const float> v, const AttentionShape& s) {
  const Visible visible{s};
  head_scores(buf, q, k, s);
  float* inverses = stats + s.queries;
  for (std::size_t i = 0; i < buf.tq; i += kPanel) {
    const std::size_t count = std::min(kPanel, s.queries - i);
    float panel_tops[kPanel], panel_inverses[kPanel];
    softmax_forward({buf.scores + i, visible(i), i, s.causal, buf.tq, std::min(kPanel, buf.tq - i)},
                    panel_tops, panel_inverses);
    std::copy_n(panel_tops, count, stats + i);
    std::copy_n(panel_inverses, count, inverses + i);
  }
  small_matmul(
      buf.out, buf.tq, {v.data, 1, v.stride}, buf.scores, buf.tq, buf.tq,
      [&](std::size_t) { return s.value_size; }, visible);
  transpose_out(z, buf.out, buf.tq, [&](std::size_t i) { return inverses[i]; });
}

// exponential(score, top) of what stands in buf.scores; buf.queries_t is filled.
template <class Exponential>
void head_gradients(const Buffers& buf, Matrix<float> dq, Matrix<float> dk, Matrix<float> dv,
                    Matrix<const float> dz, const float* stats, Matrix<const float> q,
                    Matrix<const float> k, Matrix<const float> v, const AttentionShape& s,
                    const Exponential& exponential) {
  const float scale = static_cast<float>(s.scale);
  const Visible visible{s};
  transpose_in(buf.dz_t, buf.tq, dz, 1.0f);
  // dP = dz v^T, (Tk, tq) as the weights P.
  small_matmul(buf.dscores, buf.tq, {v.data, v.stride, 1}, buf.dz_t, buf.tq, buf.tq, visible,
               [&](std::size_t) { return s.value_size; });
  const float* inverses = stats + s.queries;
  for (std::size_t i = 0; i < buf.tq; i += kLanes) {
    const std::size_t n = visible(i / kPanel * kPanel),
                      real = std::min(kLanes, s.queries - std::min(i, s.queries));
    Vec top{}, inverse{}, mean{};
    for (std::size_t l = 0; l < real; ++l) {
      top[l] = stats[i + l];
      inverse[l] = inverses[i + l];
    }
    for (std::size_t j = 0; j < n; ++j) {
      Vec p = exponential(load(buf.scores + j * buf.tq + i), top) * inverse;
      if (s.causal && j > i) p = sees(i, j) ? p : Vec{};
      store(buf.scores + j * buf.tq + i, p);
      mean += p * load(buf.dscores + j * buf.tq + i);
    }
    for (std::size_t j = 0; j < n; ++j) {  // dS = P (dP - sum P dP)
      float* d = buf.dscores + j * buf.tq + i;
      store(d, load(buf.scores + j * buf.tq + i) * (load(d) - mean));
    }
    for (std::size_t j = n; j < s.keys; ++j) {
      store(buf.scores + j * buf.tq + i, Vec{});
      store(buf.dscores + j * buf.tq + i, Vec{});
    }
  }
  sum_over_queries(dv, buf.scores, buf, buf.dz_t, dz, 1.0f, s);
  // queries_t holds the scale already, the rows of q do not.
  const float rest = s.key_size < kLanes / 2 ? 1.0f : scale;
  sum_over_queries(dk, buf.dscores, buf, buf.queries_t, q, rest, s);
  small_matmul(
      buf.out, buf.tq, {k.data, 1, k.stride}, buf.dscores, buf.tq, buf.tq,
      [&](std::size_t) { return s.key_size; }, visible);
  transpose_out(dq, buf.out, buf.tq, [&](std::size_t) { return scale; });
}

void one_head_forward(Matrix<float> z, float* stats, Matrix<const float> q, Matrix<const float> k,
                      Matrix<const float> v, const AttentionShape& s, float* scratch) {
  head_forward(Buffers(s, scratch), z, stats, q, k, v, s);
}

void one_head_backward(Matrix<float> dq, Matrix<float> dk, Matrix<float> dv, Matrix<const float> dz,
                       const float* stats, Matrix<const float> q, Matrix<const float> k,
                       Matrix<const float> v, const AttentionShape& s, float* scratch) {
  const Buffers buf(s, scratch);
  head_scores(buf, q, k, s);
  head_gradients(buf, dq, dk, dv, dz, stats, q, k, v, s,
                 [](Vec score, Vec top) { return exp_nonpositive(score - top); });
}

void one_head_both(Matrix<float> z, Matrix<float> dq, Matrix<float> dk, Matrix<float> dv,
                   float* stats, Matrix<const float> dz, Matrix<const float> q,
                   Matrix<const float> k, Matrix<const float> v, const AttentionShape& s,
                   float* scratch) {
  const Buffers buf(s, scratch);
  head_forward(buf, z, stats, q, k, v, s);
  head_gradients(buf, dq, dk, dv, dz, stats, q, k, v, s, [](Vec e, Vec) { return e; });
}

// body(head, number of heads) for heads 0 .. n-1 of a sequence: one at a time, or as many narrow
// ones as a vector holds.
template <class Body>
void for_heads_together(const AttentionShape& s, std::size_t n, const Body& body) {
  const std::size_t step = narrow_heads_pay(s) ? kLanes : 1;
  for (std::size_t g = 0; g < n; g += step) body(g, std::min(step, n - g));
}

}  // namespace

std::size_t attention_scratch(const AttentionShape& s) {
  return narrow_heads_pay(s) ? narrow_attention_scratch(s) : Buffers::floats(s);
}

void attend_forward(Matrix<float> z, float* stats, Matrix<const float> q, Matrix<const float> k,
                    Matrix<const float> v, const AttentionShape& s, float* scratch) {
  const auto attend = narrow_heads_pay(s) ? attend_narrow_forward : one_head_forward;
  for_heads_together(s, q.cols / s.key_size, [&](std::size_t g, std::size_t n) {
    attend(head_columns(z, g, n, s.value_size), stats + g * 2 * s.queries,
           head_columns(q, g, n, s.key_size), head_columns(k, g, n, s.key_size),
           head_columns(v, g, n, s.value_size), s, scratch);
  });
}

void attend_backward(Matrix<float> dq, Matrix<float> dk, Matrix<float> dv, Matrix<const float> dz,
                     const float* stats, Matrix<const float> q, Matrix<const float> k,
                     Matrix<const float> v, const AttentionShape& s, float* scratch) {
  const auto attend = narrow_heads_pay(s) ? attend_narrow_backward : one_head_backward;
  for_heads_together(s, q.cols / s.key_size, [&](std::size_t g, std::size_t n) {
    attend(head_columns(dq, g, n, s.key_size), head_columns(dk, g, n, s.key_size),
           head_columns(dv, g, n, s.value_size), head_columns(dz, g, n, s.value_size),
           stats + g * 2 * s.queries, head_columns(q, g, n, s.key_size),
           head_columns(k, g, n, s.key_size), head_columns(v, g, n, s.value_size), s, scratch);
  });
}

void attend_both(Matrix<float> z, Matrix<float> dq, Matrix<float> dk, Matrix<float> dv,
                 float* stats, Matrix<const float> dz, Matrix<const float> q, Matrix<const float> k,
                 Matrix<const float> v, const AttentionShape& s, float* scratch) {
  const bool narrow = narrow_heads_pay(s);
  for_heads_together(s, q.cols / s.key_size, [&](std::size_t g, std::size_t n) {
    const auto keys = [&](auto m) { return head_columns(m, g, n, s.key_size); };
    const auto values = [&](auto m) { return head_columns(m, g, n, s.value_size); };
    if (narrow) {
      attend_narrow_both(values(z), keys(dq), keys(dk), values(dv), values(dz), keys(q), keys(k),
                         values(v), s, scratch);
    } else {
      one_head_both(values(z), keys(dq), keys(dk), values(dv), stats + g * 2 * s.queries,
                    values(dz), keys(q), keys(k), values(v), s, scratch);
    }
  });
}

namespace {

// Heads a tile: a few when each is tiny, so that a tile outlasts its dispatch.
std::size_t heads_per_tile(const AttentionShape& s) {
  const std::size_t work = s.queries * s.keys * (8 + s.key_size + s.value_size);
  const std::size_t heads = std::max<std::size_t>(1, 65536 / std::max<std::size_t>(1, work));
  return std::min(narrow_heads_pay(s) ? (heads + kLanes - 1) / kLanes * kLanes : heads,
                  s.copies * s.heads);
}

// body(b, first head, heads, worker's buffers) for tiles of every sequence's heads.
template <class Body>
void for_each_tile(const AttentionShape& s, View<float, 2> scratch, const Body& body) {
  const std::size_t heads = s.copies * s.heads, per_tile = heads_per_tile(s),
                    tiles = (heads + per_tile - 1) / per_tile;
  parallel_for(s.batch * tiles, [&](std::size_t tile) {
    const std::size_t first = tile % tiles * per_tile;
    body(tile / tiles, first, std::min(per_tile, heads - first),
         scratch.data + worker() * scratch.dims[1]);
  });
}

}  // namespace

void attention_forward(Matrix<float> z, View<float, 4> stats, Matrix<const float> q,
                       Matrix<const float> k, Matrix<const float> v, const AttentionShape& s,
                       View<float, 2> scratch) {
  for_each_tile(s, scratch, [&](std::size_t b, std::size_t g, std::size_t n, float* mine) {
    attend_forward(heads(z, b, s.queries, g, n, s.value_size), stats[b][g].data,
                   heads(q, b, s.queries, g, n, s.key_size), heads(k, b, s.keys, g, n, s.key_size),
                   heads(v, b, s.keys, g, n, s.value_size), s, mine);
  });
}

void attention_backward(Matrix<float> dq, Matrix<float> dk, Matrix<float> dv,
                        Matrix<const float> dz, View<const float, 4> stats, Matrix<const float> q,
                        Matrix<const float> k, Matrix<const float> v, const AttentionShape& s,
                        View<float, 2> scratch) {
  for_each_tile(s, scratch, [&](std::size_t b, std::size_t g, std::size_t n, float* mine) {
    attend_backward(
        heads(dq, b, s.queries, g, n, s.key_size), heads(dk, b, s.keys, g, n, s.key_size),
        heads(dv, b, s.keys, g, n, s.value_size), heads(dz, b, s.queries, g, n, s.value_size),
        stats[b][g].data, heads(q, b, s.queries, g, n, s.key_size),
        heads(k, b, s.keys, g, n, s.key_size), heads(v, b, s.keys, g, n, s.value_size), s, mine);
  });
}

}  // namespace headroom::kernels
