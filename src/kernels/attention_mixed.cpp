#include "kernels/attention_mixed.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/parallel.h"
#include "kernels/attention_pieces.h"
#include "kernels/attention_weights.h"

namespace headroom::kernels {
namespace {

// One worker's buffers for a panel of kPanel queries and one copy. n = Tk * kPanel numbers are one
// head's panel.
struct Buffers {
  std::size_t n, widest;
  float* queries_t;  // (h_k, K, kPanel) q^T times the scale
  float* scores;     // (h_k, Tk, kPanel)
  float* weights;    // (h, Tk, kPanel) mixed scores, then weights; = scores without score mixing
  float* sums;       // (h_v, Tk, kPanel) mixed weights; = weights without weight mixing
  float* dz_t;       // (h_v, V, kPanel)
  float* dsums;      // as sums
  float* dweights;   // as weights; = dsums without weight mixing
  float* dscores;    // as scores; = dweights without score mixing
  float* rows;       // (kPanel, widest)
  float* out;        // (max(K, V), kPanel) or (Tk, widest)

  static std::size_t cut_all(const AttentionShape& s, Buffers* b, float* p) {
    const std::size_t n = s.keys * kPanel,
                      widest = round_up_to_lanes(std::max(s.key_size, s.value_size));
    std::size_t used = 0;
    const auto cut = [&](std::size_t size) {
      float* at = p == nullptr ? nullptr : p + used;
      used += size;
      return at;
    };
    Buffers local;
    Buffers& x = b == nullptr ? local : *b;
    x.n = n;
    x.widest = widest;
    x.queries_t = cut(s.score_heads * s.key_size * kPanel);
    x.scores = cut(s.score_heads * n);
    x.weights = s.mixes_scores ? cut(s.heads * n) : x.scores;
    x.sums = s.mixes_weights ? cut(s.value_heads * n) : x.weights;
    x.dz_t = cut(s.value_heads * s.value_size * kPanel);
    x.dsums = cut(s.value_heads * n);
    x.dweights = s.mixes_weights ? cut(s.heads * n) : x.dsums;
    x.dscores = s.mixes_scores ? cut(s.score_heads * n) : x.dweights;
    x.rows = cut(kPanel * widest);
    x.out = cut(std::max(widest * kPanel, s.keys * widest));
    return used;
  }
};

// A panel's queries and what they may see.
struct Range {
  std::size_t first, count, keys;
};
Range range_of(const AttentionShape& s, std::size_t first) {
  const std::size_t count = std::min(kPanel, s.queries - first);
  return {first, count, s.causal ? std::min(first + count, s.keys) : s.keys};
}

// to (m, n) = mix (m, k) from (k, n), or mix^T with `transposed`; only the first `used` numbers of
// each row.
void mix(float* to, std::size_t m, const float* mixer, std::size_t k, bool transposed,
         const float* from, std::size_t n, std::size_t used) {
  const Strided a{mixer, transposed ? 1 : k, transposed ? m : 1};
  small_matmul(
      to, n, a, from, n, used, [&](std::size_t) { return m; }, [&](std::size_t) { return k; });
}

void set_zero(Matrix<float> m) {
  for (std::size_t i = 0; i < m.rows; ++i) std::fill_n(m.row(i), m.cols, 0.0f);
}

struct Operands {
  Matrix<const float> q, k, v;
  const float *mix_scores, *mix_weights;  // of this copy, or nullptr
  const float* bias;                      // (h, Tq + Tk - 1) of this copy, or nullptr
  std::size_t b, copy;
  const AttentionShape& s;

  std::size_t key_head(std::size_t h) const {
    return s.shared_key ? 0 : (copy * s.score_heads + h) / s.group;
  }
  std::size_t value_head(std::size_t h) const { return (copy * s.value_heads + h) / s.group; }

  Matrix<const float> query(std::size_t h, const Range& r) const {
    return head(q, b, s.queries, copy * s.score_heads + h, s.key_size).row_range(r.first, r.count);
  }
  Matrix<const float> key(std::size_t h) const {
    return head(k, b, s.keys, key_head(h), s.key_size);
  }
  Matrix<const float> value(std::size_t h) const {
    return head(v, b, s.keys, value_head(h), s.value_size);
  }
};

// Key j and the panel's queries meet at these entries of a row of biases: contiguous in the
// queries.
std::size_t first_bias(const AttentionShape& s, const Range& r, std::size_t j) {
  return r.first + s.keys - 1 - j;
}

// The mixed scores of one head += its biases.
void add_bias(float* scores, const float* bias, const AttentionShape& s, const Range& r) {
  for (std::size_t j = 0; j < r.keys; ++j) {
    const float* row = bias + first_bias(s, r, j);
    for (std::size_t i = 0; i < r.count; ++i) scores[j * kPanel + i] += row[i];
  }
}

// d (keys, kPanel): gradients of one head's mixed scores.
void add_bias_gradient(float* dbias, const float* d, const AttentionShape& s, const Range& r) {
  for (std::size_t j = 0; j < r.keys; ++j) {
    float* row = dbias + first_bias(s, r, j);
    for (std::size_t i = 0; i < r.count; ++i) row[i] += d[j * kPanel + i];
  }
}

// Mixed scores of a panel, before the mask.
void panel_scores(const Operands& o, const Buffers& buf, const Range& r) {
  const AttentionShape& s = o.s;
  for (std::size_t h = 0; h < s.score_heads; ++h) {
    float* q_t = buf.queries_t + h * s.key_size * kPanel;
    const Matrix<const float> keys = o.key(h);
    transpose_in(q_t, kPanel, o.query(h, r), static_cast<float>(s.scale));
    small_matmul(
        buf.scores + h * buf.n, kPanel, {keys.data, keys.stride, 1}, q_t, kPanel, kPanel,
        [&](std::size_t) { return r.keys; }, [&](std::size_t) { return s.key_size; });
  }
  if (o.mix_scores != nullptr)
    mix(buf.weights, s.heads, o.mix_scores, s.score_heads, false, buf.scores, buf.n,
        r.keys * kPanel);
  for (std::size_t h = 0; o.bias != nullptr && h < s.heads; ++h)
    add_bias(buf.weights + h * buf.n, o.bias + h * (s.queries + s.keys - 1), s, r);
}

// body(operands, buffers) for every sequence and copy.
template <class Body>
void for_each_copy(const AttentionShape& s, Matrix<const float> q, Matrix<const float> k,
                   Matrix<const float> v, const AttentionMixers<const float>& m,
                   View<float, 2> scratch, const Body& body) {
  assert(s.mixes_scores == (m.scores.size() > 0) && s.mixes_weights == (m.weights.size() > 0));
  // The copies of a sequence share its key's gradient, where they share the key: one tile then.
  const std::size_t per_tile = s.shared_key ? s.copies : 1, tiles = s.copies / per_tile;
  parallel_for(s.batch * tiles, [&](std::size_t tile) {
    Buffers buffers;
    Buffers::cut_all(s, &buffers, scratch.data + worker() * scratch.dims[1]);
    for (std::size_t i = 0; i < per_tile; ++i) {
      const std::size_t copy = tile % tiles * per_tile + i;
      body(Operands{q, k, v, s.mixes_scores ? m.scores[copy].data : nullptr,
                    s.mixes_weights ? m.weights[copy].data : nullptr,
                    m.bias.size() > 0 ? m.bias.range(copy * s.heads, s.heads).data : nullptr,
                    tile / tiles, copy, s},
           buffers);
    }
  });
}

// to (keys, size) += factor * d^T-free product of d (keys, kPanel) and a (count, size) of the
// panel.
void add_to_keys(Matrix<float> to, const float* d, Matrix<const float> a, float factor,
                 const Buffers& buf, std::size_t keys) {
  const std::size_t padded = round_up_to_lanes(a.cols);
  copy_padded(buf.rows, padded, a);
  small_matmul(
      buf.out, padded, {d, kPanel, 1}, buf.rows, padded, padded, [&](std::size_t) { return keys; },
      [&](std::size_t) { return a.rows; });
  for (std::size_t j = 0; j < keys; ++j)
    for (std::size_t c = 0; c < to.cols; ++c)
      to.data[j * to.stride + c] += factor * buf.out[j * padded + c];
}

}  // namespace

std::size_t mixed_attention_scratch(const AttentionShape& shape) {
  return Buffers::cut_all(shape, nullptr, nullptr);
}

namespace {

// Of one sequence and copy: the gradients of both mixers, then of the biases.
struct Partial {
  std::size_t scores, weights, bias;
  explicit Partial(const AttentionShape& s)
      : scores(s.mixes_scores ? s.heads * s.score_heads : 0),
        weights(s.mixes_weights ? s.value_heads * s.heads : 0),
        bias(s.biased ? s.heads * (s.queries + s.keys - 1) : 0) {}
  std::size_t size() const { return scores + weights + bias; }
};

// The sequences' shares of one gradient, in order; `at` is its place in a partial.
void add_partials(float* d, std::size_t n, std::size_t at, View<const float, 1> partials,
                  const AttentionShape& s) {
  const std::size_t size = Partial(s).size();
  for (std::size_t b = 0; b < s.batch; ++b)
    for (std::size_t copy = 0; copy < s.copies; ++copy) {
      const float* partial = partials.data + (b * s.copies + copy) * size + at;
      for (std::size_t i = 0; i < n; ++i) d[copy * n + i] += partial[i];
    }
}

}  // namespace

std::size_t mixed_attention_partials(const AttentionShape& s) {
  return s.batch * s.copies * Partial(s).size();
}

void mixed_attention_forward(Matrix<float> z, View<float, 4> stats, Matrix<const float> q,
                             Matrix<const float> k, Matrix<const float> v,
                             const AttentionMixers<const float>& m, const AttentionShape& s,
                             View<float, 2> scratch) {
  const WeightRule& rule = weight_rule(s.type);
  for_each_copy(s, q, k, v, m, scratch, [&](const Operands& o, const Buffers& buf) {
    for (std::size_t first = 0; first < s.queries; first += kPanel) {
      const Range r = range_of(s, first);
      panel_scores(o, buf, r);
      const auto inverse_of = [&](std::size_t h) {
        return &stats(o.b, o.copy * s.heads + h, 1, first);
      };
      for (std::size_t h = 0; h < s.heads; ++h) {
        const Panel panel{buf.weights + h * buf.n, r.keys, first, s.causal};
        float tops[kPanel] = {}, inverses[kPanel] = {};
        rule.forward(panel, tops, inverses);
        std::copy_n(tops, r.count, &stats(o.b, o.copy * s.heads + h, 0, first));
        std::copy_n(inverses, r.count, inverse_of(h));
        if (o.mix_weights != nullptr && rule.unfinished)  // finished before they are mixed
          for (std::size_t j = 0; j < r.keys; ++j)
            for (std::size_t l = 0; l < kPanel; ++l) panel.values[j * kPanel + l] *= inverses[l];
      }
      if (o.mix_weights != nullptr)
        mix(buf.sums, s.value_heads, o.mix_weights, s.heads, false, buf.weights, buf.n,
            r.keys * kPanel);
      for (std::size_t h = 0; h < s.value_heads; ++h) {
        const Matrix<const float> values = o.value(h);
        small_matmul(
            buf.out, kPanel, {values.data, 1, values.stride}, buf.sums + h * buf.n, kPanel, kPanel,
            [&](std::size_t) { return s.value_size; }, [&](std::size_t) { return r.keys; });
        const bool unfinished = o.mix_weights == nullptr && rule.unfinished;
        const float* inverses = unfinished ? inverse_of(h) : nullptr;
        transpose_out(head(z, o.b, s.queries, o.copy * s.value_heads + h, s.value_size)
                          .row_range(first, r.count),
                      buf.out, kPanel,
                      [&](std::size_t i) { return unfinished ? inverses[i] : 1.0f; });
      }
    }
  });
}

void mixed_attention_backward(Matrix<float> dq, Matrix<float> dk, Matrix<float> dv,
                              const AttentionMixers<float>& dm, Matrix<const float> dz,
                              View<const float, 4> stats, Matrix<const float> q,
                              Matrix<const float> k, Matrix<const float> v,
                              const AttentionMixers<const float>& m, const AttentionShape& s,
                              View<float, 1> partials, View<float, 2> scratch) {
  const WeightRule& rule = weight_rule(s.type);
  const float scale = static_cast<float>(s.scale);
  const Partial part(s);
  for_each_copy(s, q, k, v, m, scratch, [&](const Operands& o, const Buffers& buf) {
    float* dmix_scores = partials.data + (o.b * s.copies + o.copy) * part.size();
    float* dmix_weights = dmix_scores + part.scores;
    float* dbias = dmix_weights + part.weights;
    std::fill_n(dmix_scores, part.size(), 0.0f);
    const auto dkey = [&](std::size_t h) {
      return head(dk, o.b, s.keys, o.key_head(h), s.key_size);
    };
    const auto dvalue = [&](std::size_t h) {
      return head(dv, o.b, s.keys, o.value_head(h), s.value_size);
    };
    for (std::size_t h = 0; h < s.score_heads; h += s.group)
      if (!s.shared_key || o.copy + h == 0) set_zero(dkey(h));
    for (std::size_t h = 0; h < s.value_heads; h += s.group) set_zero(dvalue(h));
    for (std::size_t first = 0; first < s.queries; first += kPanel) {
      const Range r = range_of(s, first);
      const std::size_t used = r.keys * kPanel;
      const auto panel_of = [&](float* all, std::size_t h) {
        return Panel{all + h * buf.n, r.keys, first, s.causal};
      };
      panel_scores(o, buf, r);
      for (std::size_t h = 0; h < s.heads; ++h) {
        float tops[kPanel] = {},
              inverses[kPanel] = {};  // lanes beyond the last query get weights of 0
        std::copy_n(&stats(o.b, o.copy * s.heads + h, 0, first), r.count, tops);
        std::copy_n(&stats(o.b, o.copy * s.heads + h, 1, first), r.count, inverses);
        rule.again(panel_of(buf.weights, h), tops, inverses);
      }
      if (o.mix_weights != nullptr)
        mix(buf.sums, s.value_heads, o.mix_weights, s.heads, false, buf.weights, buf.n, used);
      for (std::size_t h = 0; h < s.value_heads; ++h) {
        const Matrix<const float> dz_h =
            head(dz, o.b, s.queries, o.copy * s.value_heads + h, s.value_size)
                .row_range(first, r.count);
        float* dz_t = buf.dz_t + h * s.value_size * kPanel;
        const Matrix<const float> values = o.value(h);
        transpose_in(dz_t, kPanel, dz_h, 1.0f);
        small_matmul(
            buf.dsums + h * buf.n, kPanel, {values.data, values.stride, 1}, dz_t, kPanel, kPanel,
            [&](std::size_t) { return r.keys; }, [&](std::size_t) { return s.value_size; });
        add_to_keys(dvalue(h), buf.sums + h * buf.n, dz_h, 1.0f, buf, r.keys);
      }
      if (o.mix_weights != nullptr) {
        add_row_products(dmix_weights, buf.dsums, s.value_heads, buf.weights, s.heads, buf.n, used);
        mix(buf.dweights, s.heads, o.mix_weights, s.value_heads, true, buf.dsums, buf.n, used);
      }
      for (std::size_t h = 0; h < s.heads; ++h) {
        float* d = buf.dweights + h * buf.n;
        rule.backward(d, panel_of(buf.weights, h));
        if (o.bias != nullptr) add_bias_gradient(dbias + h * (s.queries + s.keys - 1), d, s, r);
      }
      if (o.mix_scores != nullptr) {
        add_row_products(dmix_scores, buf.dweights, s.heads, buf.scores, s.score_heads, buf.n,
                         used);
        mix(buf.dscores, s.score_heads, o.mix_scores, s.heads, true, buf.dweights, buf.n, used);
      }
      for (std::size_t h = 0; h < s.score_heads; ++h) {
        const Matrix<const float> keys = o.key(h);
        small_matmul(
            buf.out, kPanel, {keys.data, 1, keys.stride}, buf.dscores + h * buf.n, kPanel, kPanel,
            [&](std::size_t) { return s.key_size; }, [&](std::size_t) { return r.keys; });
        transpose_out(head(dq, o.b, s.queries, o.copy * s.score_heads + h, s.key_size)
                          .row_range(first, r.count),
                      buf.out, kPanel, [&](std::size_t) { return scale; });
        add_to_keys(dkey(h), buf.dscores + h * buf.n, o.query(h, r), scale, buf, r.keys);
      }
    }
  });
  if (m.scores.size() > 0) add_partials(dm.scores.data, part.scores, 0, partials, s);
  if (m.weights.size() > 0) add_partials(dm.weights.data, part.weights, part.scores, partials, s);
  if (m.bias.size() > 0)
    add_partials(dm.bias.data, part.bias, part.scores + part.weights, partials, s);
}

}  // namespace headroom::kernels
