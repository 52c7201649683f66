// Twin of kernels/attention_mixed.h in plain loops: one query of one copy at a time.
#pragma once

#include <algorithm>
#include <cassert>
#include <limits>

#include "core/attention_shape.h"
#include "core/view.h"
#include "reference/scalar.h"

namespace headroom::reference {

template <class S>
std::size_t mixed_attention_scratch(const AttentionShape& s) {
  return 2 * (s.score_heads + s.heads + s.value_heads) * s.keys + s.keys;
}

template <class S>
std::size_t mixed_attention_partials(const AttentionShape&) {
  return 0;
}

namespace mixed_detail {

// Scores, logits and weights of all heads for one query, each head a row of n visible keys.
template <class S>
struct Row {
  const AttentionShape& s;
  Matrix<const S> q, k, v;
  const AttentionMixers<const S>& m;
  std::size_t b, copy, i, n;
  S *scores, *weights, *sums;  // (h_k, n), (h, n), (h_v, n)

  std::size_t query_row() const { return b * s.queries + i; }
  std::size_t key_row(std::size_t j) const { return b * s.keys + j; }
  std::size_t query_col(std::size_t h, std::size_t c) const {
    return (copy * s.score_heads + h) * s.key_size + c;
  }
  std::size_t key_col(std::size_t h, std::size_t c) const {
    return s.shared_key ? c : (copy * s.score_heads + h) / s.group * s.key_size + c;
  }
  std::size_t value_col(std::size_t h, std::size_t c) const {
    return (copy * s.value_heads + h) / s.group * s.value_size + c;
  }
  std::size_t out_col(std::size_t h, std::size_t c) const {
    return (copy * s.value_heads + h) * s.value_size + c;
  }

  // Where the bias of head h and key j stands.
  std::size_t bias_row(std::size_t h) const { return copy * s.heads + h; }
  std::size_t bias_col(std::size_t j) const { return i + s.keys - 1 - j; }

  void compute() const {
    compute_logits();
    compute_sums();
  }

  // weights (h, n) = the mixed scores with their biases.
  void compute_logits() const {
    for (std::size_t h = 0; h < s.score_heads; ++h)
      for (std::size_t j = 0; j < n; ++j) {
        S sum{};
        for (std::size_t c = 0; c < s.key_size; ++c)
          sum += q(query_row(), query_col(h, c)) * k(key_row(j), key_col(h, c));
        scores[h * n + j] = s.scale * sum;
      }
    for (std::size_t h = 0; h < s.heads; ++h) {
      S* w = weights + h * n;
      for (std::size_t j = 0; j < n; ++j) {
        w[j] = m.scores.size() > 0 ? S{} : scores[h * n + j];
        for (std::size_t g = 0; m.scores.size() > 0 && g < s.score_heads; ++g)
          w[j] += m.scores(copy, h, g) * scores[g * n + j];
        if (m.bias.size() > 0) w[j] += m.bias(bias_row(h), bias_col(j));
      }
    }
  }

  // weights (h, n) from the logits that lie there, and sums.
  void compute_sums() const {
    for (std::size_t h = 0; h < s.heads; ++h) weigh(weights + h * n);
    for (std::size_t h = 0; h < s.value_heads; ++h)
      for (std::size_t j = 0; j < n; ++j) {
        S sum = m.weights.size() > 0 ? S{} : weights[h * n + j];
        for (std::size_t g = 0; m.weights.size() > 0 && g < s.heads; ++g)
          sum += m.weights(copy, h, g) * weights[g * n + j];
        sums[h * n + j] = sum;
      }
  }

  void weigh(S* w) const {
    using std::exp;
    const double count = static_cast<double>(n);
    switch (s.type) {
      case AttentionType::kSoftmax: {
        double top = -std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < n; ++j) top = std::max(top, real_part(w[j]));
        S total{};
        for (std::size_t j = 0; j < n; ++j) total += (w[j] = exp(w[j] - top));
        for (std::size_t j = 0; j < n; ++j) w[j] /= total;
        break;
      }
      case AttentionType::kLinear:
        for (std::size_t j = 0; j < n; ++j) w[j] /= count;
        break;
      case AttentionType::kRelu:
        for (std::size_t j = 0; j < n; ++j) w[j] = real_part(w[j]) > 0 ? w[j] / count : S{};
        break;
      case AttentionType::kSigmoid:
        for (std::size_t j = 0; j < n; ++j) w[j] = 1.0 / (1.0 + exp(-w[j]));
        break;
      case AttentionType::kHard: {
        std::size_t first = 0;
        for (std::size_t j = 1; j < n; ++j)
          if (real_part(w[j]) > real_part(w[first])) first = j;
        for (std::size_t j = 0; j < n; ++j) w[j] = j == first ? S(1) : S{};
        break;
      }
    }
  }

  // d (n): the gradient by the weights w becomes that by the logits.
  void weigh_backward(S* d, const S* w) const {
    const double count = static_cast<double>(n);
    S mean{};
    for (std::size_t j = 0; j < n; ++j) mean += w[j] * d[j];
    for (std::size_t j = 0; j < n; ++j) {
      switch (s.type) {
        case AttentionType::kSoftmax:
          d[j] = w[j] * (d[j] - mean);
          break;
        case AttentionType::kLinear:
          d[j] /= count;
          break;
        case AttentionType::kRelu:
          d[j] = real_part(w[j]) > 0 ? d[j] / count : S{};
          break;
        case AttentionType::kSigmoid:
          d[j] *= w[j] * (1.0 - w[j]);
          break;
        case AttentionType::kHard:
          assert(false && "hard weights are not trained");
          break;
      }
    }
  }
};

// body(row, the second half of the scratch) for every query of every copy.
template <class S, class Body>
void for_each_row(const AttentionShape& s, Matrix<const S> q, Matrix<const S> k, Matrix<const S> v,
                  const AttentionMixers<const S>& m, S* scratch, const Body& body) {
  for (std::size_t b = 0; b < s.batch; ++b)
    for (std::size_t copy = 0; copy < s.copies; ++copy)
      for (std::size_t i = 0; i < s.queries; ++i) {
        const std::size_t n = s.causal ? std::min(i + 1, s.keys) : s.keys;
        S* weights = scratch + s.score_heads * n;
        S* sums = weights + s.heads * n;
        const Row<S> row{s, q, k, v, m, b, copy, i, n, scratch, weights, sums};
        row.compute();
        body(row, sums + s.value_heads * n);
      }
}

}  // namespace mixed_detail

// The weights themselves, for one sequence b and copy: for each query i in order
// body(i, n, logits (h,n) as they are weighed, weights (h,n), mixed (h_v,n) what the values are
// summed by), n the keys that it sees. scratch: mixed_attention_scratch(s) + heads * keys.
template <class S, class Body>
void for_each_attention_row(const AttentionShape& s, std::size_t b, std::size_t copy,
                            Matrix<const S> q, Matrix<const S> k, const AttentionMixers<const S>& m,
                            S* scratch, const Body& body) {
  S* const logits = scratch + mixed_attention_scratch<S>(s);
  for (std::size_t i = 0; i < s.queries; ++i) {
    const std::size_t n = s.causal ? std::min(i + 1, s.keys) : s.keys;
    S* weights = scratch + s.score_heads * n;
    const mixed_detail::Row<S> row{s,    q, k, {},      m,       b,
                                   copy, i, n, scratch, weights, weights + s.heads * n};
    row.compute_logits();
    std::copy_n(row.weights, s.heads * n, logits);
    row.compute_sums();
    body(i, n, static_cast<const S*>(logits), static_cast<const S*>(row.weights),
         static_cast<const S*>(row.sums));
  }
}

template <class S>
void mixed_attention_forward(Matrix<S> z, View<S, 4>, Matrix<const S> q, Matrix<const S> k,
                             Matrix<const S> v, const AttentionMixers<const S>& m,
                             const AttentionShape& s, View<S, 2> scratch) {
  mixed_detail::for_each_row<S>(s, q, k, v, m, scratch.data, [&](const auto& row, S*) {
    for (std::size_t h = 0; h < s.value_heads; ++h)
      for (std::size_t c = 0; c < s.value_size; ++c) {
        S sum{};
        for (std::size_t j = 0; j < row.n; ++j)
          sum += row.sums[h * row.n + j] * v(row.key_row(j), row.value_col(h, c));
        z(row.query_row(), row.out_col(h, c)) = sum;
      }
  });
}

template <class S>
void mixed_attention_backward(Matrix<S> dq, Matrix<S> dk, Matrix<S> dv,
                              const AttentionMixers<S>& dm, Matrix<const S> dz, View<const S, 4>,
                              Matrix<const S> q, Matrix<const S> k, Matrix<const S> v,
                              const AttentionMixers<const S>& m, const AttentionShape& s,
                              View<S, 1>, View<S, 2> scratch) {
  for (const Matrix<S>& d : {dq, dk, dv})
    for (std::size_t i = 0; i < d.rows; ++i) std::fill_n(d.row(i), d.cols, S{});
  mixed_detail::for_each_row<S>(s, q, k, v, m, scratch.data, [&](const auto& row, S* rest) {
    const std::size_t n = row.n;
    S* dsums = rest;                          // (h_v, n)
    S* dweights = dsums + s.value_heads * n;  // (h, n)
    S* dscores = dweights + s.heads * n;      // (h_k, n)
    for (std::size_t h = 0; h < s.value_heads; ++h)
      for (std::size_t j = 0; j < n; ++j) {
        S sum{};
        for (std::size_t c = 0; c < s.value_size; ++c) {
          const S d = dz(row.query_row(), row.out_col(h, c));
          sum += d * v(row.key_row(j), row.value_col(h, c));
          dv(row.key_row(j), row.value_col(h, c)) += row.sums[h * n + j] * d;
        }
        dsums[h * n + j] = sum;
      }
    for (std::size_t h = 0; h < s.heads; ++h) {
      for (std::size_t j = 0; j < n; ++j) {
        S sum = m.weights.size() > 0 ? S{} : dsums[h * n + j];
        for (std::size_t g = 0; m.weights.size() > 0 && g < s.value_heads; ++g) {
          sum += m.weights(row.copy, g, h) * dsums[g * n + j];
          dm.weights(row.copy, g, h) += dsums[g * n + j] * row.weights[h * n + j];
        }
        dweights[h * n + j] = sum;
      }
      row.weigh_backward(dweights + h * n, row.weights + h * n);
      for (std::size_t j = 0; m.bias.size() > 0 && j < n; ++j)
        dm.bias(row.bias_row(h), row.bias_col(j)) += dweights[h * n + j];
    }
    for (std::size_t h = 0; h < s.score_heads; ++h)
      for (std::size_t j = 0; j < n; ++j) {
        S sum = m.scores.size() > 0 ? S{} : dweights[h * n + j];
        for (std::size_t g = 0; m.scores.size() > 0 && g < s.heads; ++g) {
          sum += m.scores(row.copy, g, h) * dweights[g * n + j];
          dm.scores(row.copy, g, h) += dweights[g * n + j] * row.scores[h * n + j];
        }
        dscores[h * n + j] = sum;
        for (std::size_t c = 0; c < s.key_size; ++c) {
          dq(row.query_row(), row.query_col(h, c)) +=
              s.scale * sum * k(row.key_row(j), row.key_col(h, c));
          dk(row.key_row(j), row.key_col(h, c)) +=
              s.scale * sum * q(row.query_row(), row.query_col(h, c));
        }
      }
  });
}

}  // namespace headroom::reference
