#include "kernels/attention_narrow.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/vector.h"

namespace headroom::kernels {
namespace {

constexpr std::size_t kWidest = 4;  // by measurement; wider heads fill vectors by themselves

// (tokens, size) vectors, a lane a head.
struct Lanes {
  float* data;
  std::size_t size;
  float* at(std::size_t token, std::size_t c) const { return data + (token * size + c) * kLanes; }
  Vec get(std::size_t token, std::size_t c) const { return load(at(token, c)); }
};

// Lanes beyond the last head are 0.
void pack(const Lanes& to, Matrix<const float> from, float factor) {
  const std::size_t heads = from.cols / to.size;
  if (to.size == 1 && heads == kLanes) {  // already side by side
    for (std::size_t t = 0; t < from.rows; ++t) store(to.at(t, 0), factor * load(from.row(t)));
    return;
  }
  for (std::size_t t = 0; t < from.rows; ++t)
    for (std::size_t c = 0; c < to.size; ++c) {
      float* lanes = to.at(t, c);
      const float* row = from.row(t) + c;
      for (std::size_t h = 0; h < heads; ++h) lanes[h] = factor * row[h * to.size];
      for (std::size_t h = heads; h < kLanes; ++h) lanes[h] = 0;
    }
}

void unpack(Matrix<float> to, const Lanes& from) {
  const std::size_t heads = to.cols / from.size;
  if (from.size == 1 && heads == kLanes) {
    for (std::size_t t = 0; t < to.rows; ++t) store(to.row(t), from.get(t, 0));
    return;
  }
  for (std::size_t t = 0; t < to.rows; ++t)
    for (std::size_t c = 0; c < from.size; ++c) {
      const float* lanes = from.at(t, c);
      float* row = to.row(t) + c;
      for (std::size_t h = 0; h < heads; ++h) row[h * from.size] = lanes[h];
    }
}

struct Buffers {
  Lanes q, dq, k, dk, v, dv, z, dz;
  float *weights, *dweights;  // (Tk) vectors of one query

  // With queries, times the scale, keys and values in their places.
  Buffers(const AttentionShape& s, float* p, Matrix<const float> q_in, Matrix<const float> k_in,
          Matrix<const float> v_in) {
    const auto cut = [&](std::size_t tokens, std::size_t size) {
      return Lanes{std::exchange(p, p + tokens * size * kLanes), size};
    };
    q = cut(s.queries, s.key_size);
    dq = cut(s.queries, s.key_size);
    k = cut(s.keys, s.key_size);
    dk = cut(s.keys, s.key_size);
    v = cut(s.keys, s.value_size);
    dv = cut(s.keys, s.value_size);
    z = cut(s.queries, s.value_size);
    dz = cut(s.queries, s.value_size);
    weights = cut(s.keys, 1).data;
    dweights = cut(s.keys, 1).data;
    pack(q, q_in, static_cast<float>(s.scale));
    pack(k, k_in, 1.0f);
    pack(v, v_in, 1.0f);
  }
};

std::size_t visible(const AttentionShape& s, std::size_t query) {
  return s.causal ? std::min(query + 1, s.keys) : s.keys;
}

// The sums of forward run in the order of the other kernels, product by product and key by key: the
// same bits.
// K, V: the sizes, or 0 where they are not known at compile time.
template <std::size_t K, std::size_t V>
struct Kernel {
  const AttentionShape& s;
  const Buffers& b;
  std::size_t key_size() const { return K > 0 ? K : s.key_size; }
  std::size_t value_size() const { return V > 0 ? V : s.value_size; }

  Vec score(std::size_t i, std::size_t j) const {
    Vec sum{};
    for (std::size_t c = 0; c < key_size(); ++c) sum = fused(b.q.get(i, c), b.k.get(j, c), sum);
    return sum;
  }

  // The scores of query i and their largest.
  Vec store_scores(std::size_t i, std::size_t n) const {
    Vec top = broadcast(-std::numeric_limits<float>::infinity());
    for (std::size_t j = 0; j < n; ++j) {
      const Vec x = score(i, j);
      store(b.weights + j * kLanes, x);
      top = max(x, top);
    }
    return top;
  }

  // The sums of query i from its stored scores; also(j, exponential j). Returns 1 / their sum.
  template <class Also>
  Vec query_sums(std::size_t i, std::size_t n, Vec top, const Also& also) const {
    Vec total{}, sums[kWidest] = {};
    for (std::size_t j = 0; j < n; ++j) {
      const Vec e = exp_nonpositive(load(b.weights + j * kLanes) - top);
      total += e;
      for (std::size_t c = 0; c < value_size(); ++c) sums[c] = fused(b.v.get(j, c), e, sums[c]);
      also(j, e);
    }
    const Vec inverse = n > 0 ? 1.0f / total : Vec{};
    for (std::size_t c = 0; c < value_size(); ++c) store(b.z.at(i, c), inverse * sums[c]);
    return inverse;
  }

  void forward(float* stats, std::size_t heads) const {
    for (std::size_t i = 0; i < s.queries; ++i) {
      const std::size_t n = visible(s, i);
      const Vec top = store_scores(i, n);
      const Vec inverse = query_sums(i, n, top, [](std::size_t, Vec) {});
      for (std::size_t h = 0; h < heads; ++h) {
        stats[h * 2 * s.queries + i] = top[h];
        stats[(h * 2 + 1) * s.queries + i] = inverse[h];
      }
    }
  }

  // Keeps exponential j of query i and the gradient of its weight for query_gradients; returns sum
  // and the product of both.
  Vec add_weight(std::size_t i, std::size_t j, Vec e, Vec sum) const {
    Vec dp{};
    for (std::size_t c = 0; c < value_size(); ++c) dp = fused(b.v.get(j, c), b.dz.get(i, c), dp);
    store(b.weights + j * kLanes, e);
    store(b.dweights + j * kLanes, dp);
    return fused(e, dp, sum);
  }

  void set_key_gradients_zero() const {
    std::fill_n(b.dk.data, s.keys * key_size() * kLanes, 0.0f);
    std::fill_n(b.dv.data, s.keys * value_size() * kLanes, 0.0f);
  }

  // What query i adds to the gradients. b.weights hold its weights over `inverse`, b.dweights their
  // gradients; sum: of the products of both.
  void query_gradients(std::size_t i, std::size_t n, Vec inverse, Vec sum) const {
    const float scale = static_cast<float>(s.scale);
    const Vec mean = sum * inverse;
    Vec dq[kWidest] = {};
    for (std::size_t j = 0; j < n; ++j) {
      const Vec p = load(b.weights + j * kLanes) * inverse,
                d = p * (load(b.dweights + j * kLanes) - mean);
      for (std::size_t c = 0; c < value_size(); ++c)
        store(b.dv.at(j, c), fused(p, b.dz.get(i, c), b.dv.get(j, c)));
      for (std::size_t c = 0; c < key_size(); ++c) {
        dq[c] = fused(b.k.get(j, c), d, dq[c]);
        store(b.dk.at(j, c), fused(d, b.q.get(i, c), b.dk.get(j, c)));  // q holds the scale
      }
    }
    for (std::size_t c = 0; c < key_size(); ++c) store(b.dq.at(i, c), scale * dq[c]);
  }

  void backward(const float* stats, std::size_t heads) const {
    set_key_gradients_zero();
    for (std::size_t i = 0; i < s.queries; ++i) {
      const std::size_t n = visible(s, i);
      Vec top{}, inverse{}, sum{};
      for (std::size_t h = 0; h < heads; ++h) {
        top[h] = stats[h * 2 * s.queries + i];
        inverse[h] = stats[(h * 2 + 1) * s.queries + i];
      }
      for (std::size_t j = 0; j < n; ++j) {
        sum = add_weight(i, j, exp_nonpositive(score(i, j) - top), sum);
      }
      query_gradients(i, n, inverse, sum);
    }
  }

  void forward_and_backward() const {
    set_key_gradients_zero();
    for (std::size_t i = 0; i < s.queries; ++i) {
      const std::size_t n = visible(s, i);
      Vec sum{};
      const Vec inverse = query_sums(i, n, store_scores(i, n),
                                     [&](std::size_t j, Vec e) { sum = add_weight(i, j, e, sum); });
      query_gradients(i, n, inverse, sum);
    }
  }
};

// body(the kernel for the sizes): those of equal halves are compiled in.
template <class Body>
void with_kernel(const AttentionShape& s, const Buffers& b, const Body& body) {
  const std::size_t size = s.key_size == s.value_size ? s.key_size : 0;
  switch (size) {
    case 1:
      return body(Kernel<1, 1>{s, b});
    case 2:
      return body(Kernel<2, 2>{s, b});
    case 4:
      return body(Kernel<4, 4>{s, b});
    default:
      return body(Kernel<0, 0>{s, b});
  }
}

}  // namespace

bool narrow_heads_pay(const AttentionShape& s) {
  return s.key_size <= kWidest && s.value_size <= kWidest && s.copies * s.heads >= kLanes;
}

std::size_t narrow_attention_scratch(const AttentionShape& s) {
  return kLanes * ((2 * s.queries + 2 * s.keys) * s.key_size +
                   2 * (s.keys + s.queries) * s.value_size + 2 * s.keys);
}

void attend_narrow_forward(Matrix<float> z, float* stats, Matrix<const float> q,
                           Matrix<const float> k, Matrix<const float> v, const AttentionShape& s,
                           float* scratch) {
  const Buffers b(s, scratch, q, k, v);
  with_kernel(s, b, [&](const auto& kernel) { kernel.forward(stats, q.cols / s.key_size); });
  unpack(z, b.z);
}

namespace {

void unpack_gradients(Matrix<float> dq, Matrix<float> dk, Matrix<float> dv, const Buffers& b) {
  unpack(dq, b.dq);
  unpack(dk, b.dk);
  unpack(dv, b.dv);
}

}  // namespace

void attend_narrow_backward(Matrix<float> dq, Matrix<float> dk, Matrix<float> dv,
                            Matrix<const float> dz, const float* stats, Matrix<const float> q,
                            Matrix<const float> k, Matrix<const float> v, const AttentionShape& s,
                            float* scratch) {
  const Buffers b(s, scratch, q, k, v);
  pack(b.dz, dz, 1.0f);
  with_kernel(s, b, [&](const auto& kernel) { kernel.backward(stats, q.cols / s.key_size); });
  unpack_gradients(dq, dk, dv, b);
}

void attend_narrow_both(Matrix<float> z, Matrix<float> dq, Matrix<float> dk, Matrix<float> dv,
                        Matrix<const float> dz, Matrix<const float> q, Matrix<const float> k,
                        Matrix<const float> v, const AttentionShape& s, float* scratch) {
  const Buffers b(s, scratch, q, k, v);
  pack(b.dz, dz, 1.0f);
  with_kernel(s, b, [&](const auto& kernel) { kernel.forward_and_backward(); });
  unpack(z, b.z);
  unpack_gradients(dq, dk, dv, b);
}

}  // namespace headroom::kernels
