#include "kernels/attention_weights.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "kernels/attention_pieces.h"

namespace headroom::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// body(pointer offset, first query of the vector) for the two vectors of a panel's rows.
template <class Body>
void for_each_vector(const Panel& p, const Body& body) {
  for (std::size_t l = 0; l < p.width; l += kLanes) body(l, p.first + l);
}

inline Vec masked(Vec value, const Panel& p, std::size_t query, std::size_t key, Vec otherwise) {
  return p.causal && key > query ? (sees(query, key) ? value : otherwise) : value;
}

}  // namespace

void softmax_forward(const Panel& p, float* tops, float* inverses) {
  for_each_vector(p, [&](std::size_t l, std::size_t query) {
    Vec top = broadcast(-kInfinity), total{};
    for (std::size_t j = 0; j < p.keys; ++j) {
      const Vec score =
          masked(load(p.values + j * p.stride + l), p, query, j, broadcast(-kInfinity));
      store(p.values + j * p.stride + l, score);
      top = max(score, top);
    }
    for (std::size_t j = 0; j < p.keys; ++j) {
      const Vec e = exp_nonpositive(load(p.values + j * p.stride + l) - top);
      store(p.values + j * p.stride + l, e);
      total += e;
    }
    store(tops + l, top);
    store(inverses + l, p.keys > 0 ? 1.0f / total : Vec{});
  });
}

namespace {

void softmax_again(const Panel& p, const float* tops, const float* inverses) {
  for_each_vector(p, [&](std::size_t l, std::size_t query) {
    for (std::size_t j = 0; j < p.keys; ++j) {
      const Vec e =
          exp_nonpositive(load(p.values + j * p.stride + l) - load(tops + l)) * load(inverses + l);
      store(p.values + j * p.stride + l, masked(e, p, query, j, Vec{}));
    }
  });
}

void softmax_backward(float* d, const Panel& p) {
  for_each_vector(p, [&](std::size_t l, std::size_t) {
    Vec mean{};
    for (std::size_t j = 0; j < p.keys; ++j)
      mean += load(p.values + j * p.stride + l) * load(d + j * p.stride + l);
    for (std::size_t j = 0; j < p.keys; ++j) {
      float* dj = d + j * p.stride + l;
      store(dj, load(p.values + j * p.stride + l) * (load(dj) - mean));
    }
  });
}

// 1 / (number of keys each query of the vector sees).
Vec inverse_visible(const Panel& p, std::size_t query) {
  Vec n;
  for (std::size_t l = 0; l < kLanes; ++l)
    n[l] = static_cast<float>(p.causal ? std::min(query + l + 1, p.keys) : p.keys);
  return 1.0f / n;
}

// Weights f(score) * factor, entry by entry.
template <class F>
void map_panel(const Panel& p, const F& f) {
  for_each_vector(p, [&](std::size_t l, std::size_t query) {
    const Vec inverse = inverse_visible(p, query);
    for (std::size_t j = 0; j < p.keys; ++j) {
      float* s = p.values + j * p.stride + l;
      store(s, masked(f(load(s), inverse), p, query, j, Vec{}));
    }
  });
}

// d * f(weight), entry by entry; masked entries get 0.
template <class F>
void map_gradient(float* d, const Panel& p, const F& f) {
  for_each_vector(p, [&](std::size_t l, std::size_t query) {
    const Vec inverse = inverse_visible(p, query);
    for (std::size_t j = 0; j < p.keys; ++j) {
      float* dj = d + j * p.stride + l;
      store(dj,
            masked(load(dj) * f(load(p.values + j * p.stride + l), inverse), p, query, j, Vec{}));
    }
  });
}

void linear_again(const Panel& p, const float*, const float*) {
  map_panel(p, [](Vec s, Vec inverse) { return s * inverse; });
}
void linear_backward(float* d, const Panel& p) {
  map_gradient(d, p, [](Vec, Vec inverse) { return inverse; });
}

void relu_again(const Panel& p, const float*, const float*) {
  map_panel(p, [](Vec s, Vec inverse) { return (s < 0.0f ? Vec{} : s) * inverse; });
}
void relu_backward(float* d, const Panel& p) {
  map_gradient(d, p, [](Vec w, Vec inverse) { return w > 0.0f ? inverse : Vec{}; });
}

void sigmoid_again(const Panel& p, const float*, const float*) {
  map_panel(p, [](Vec s, Vec) { return 1.0f / (1.0f + exp(-s)); });
}
void sigmoid_backward(float* d, const Panel& p) {
  map_gradient(d, p, [](Vec w, Vec) { return w * (1.0f - w); });
}

void hard_again(const Panel& p, const float*, const float*) {
  for_each_vector(p, [&](std::size_t l, std::size_t query) {
    Vec top = broadcast(-kInfinity);
    for (std::size_t j = 0; j < p.keys; ++j)
      top = max(masked(load(p.values + j * p.stride + l), p, query, j, broadcast(-kInfinity)), top);
    Vec open = broadcast(1.0f);  // 0 once the first of the largest is found
    for (std::size_t j = 0; j < p.keys; ++j) {
      float* s = p.values + j * p.stride + l;
      const Vec score = load(s);
      const Vec weight = masked(score == top ? open : Vec{}, p, query, j, Vec{});
      open -= weight;
      store(s, score == score ? weight : score);  // a NaN stays one
    }
  });
}
void no_gradient(float*, const Panel&) { assert(false && "hard weights are not trained"); }

// Without statistics forward does what backward does again.
template <void (*Again)(const Panel&, const float*, const float*)>
void plain_forward(const Panel& p, float*, float*) {
  Again(p, nullptr, nullptr);
}

constexpr WeightRule kRules[] = {
    {AttentionType::kSoftmax, true, softmax_forward, softmax_again, softmax_backward},
    {AttentionType::kLinear, false, plain_forward<linear_again>, linear_again, linear_backward},
    {AttentionType::kRelu, false, plain_forward<relu_again>, relu_again, relu_backward},
    {AttentionType::kSigmoid, false, plain_forward<sigmoid_again>, sigmoid_again, sigmoid_backward},
    {AttentionType::kHard, false, plain_forward<hard_again>, hard_again, no_gradient},
};

}  // namespace

const WeightRule& weight_rule(AttentionType type) {
  for (const WeightRule& rule : kRules)
    if (rule.type == type) return rule;
  assert(false && "every type has its row");
  return kRules[0];
}

}  // namespace headroom::kernels
