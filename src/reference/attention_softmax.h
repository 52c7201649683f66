// Twin of kernels/attention_softmax.h in plain loops.
#pragma once

#include <algorithm>
#include <limits>

#include "core/attention_shape.h"
#include "core/view.h"
#include "reference/scalar.h"

namespace headroom::reference {

template <class S>
std::size_t attention_scratch(const AttentionShape& shape) {
  return 2 * shape.keys;
}

namespace attention_detail {

inline std::size_t visible(const AttentionShape& s, std::size_t i) {
  return s.causal ? std::min(i + 1, s.keys) : s.keys;
}

// scores[j] = scale * <q_i, k_j> of head g for the visible keys.
template <class S>
void scores_of(S* scores, Matrix<const S> q, Matrix<const S> k, const AttentionShape& s,
               std::size_t b, std::size_t g, std::size_t i) {
  for (std::size_t j = 0; j < visible(s, i); ++j) {
    S sum{};
    for (std::size_t c = 0; c < s.key_size; ++c)
      sum += q(b * s.queries + i, g * s.key_size + c) * k(b * s.keys + j, g * s.key_size + c);
    scores[j] = s.scale * sum;
  }
}

}  // namespace attention_detail

template <class S>
void attention_forward(Matrix<S> z, View<S, 4> stats, Matrix<const S> q, Matrix<const S> k,
                       Matrix<const S> v, const AttentionShape& s, View<S, 2> scratch) {
  using std::exp;
  S* scores = scratch.data;
  for (std::size_t b = 0; b < s.batch; ++b)
    for (std::size_t g = 0; g < s.copies * s.heads; ++g)
      for (std::size_t i = 0; i < s.queries; ++i) {
        const std::size_t n = attention_detail::visible(s, i);
        attention_detail::scores_of(scores, q, k, s, b, g, i);
        double top = -std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < n; ++j) top = std::max(top, real_part(scores[j]));
        S total{};
        for (std::size_t j = 0; j < n; ++j) total += exp(scores[j] - top);
        stats(b, g, 0, i) = top;
        stats(b, g, 1, i) = n > 0 ? 1.0 / total : S{};
        for (std::size_t j = 0; j < n; ++j) scores[j] = exp(scores[j] - top) * stats(b, g, 1, i);
        for (std::size_t c = 0; c < s.value_size; ++c) {
          S sum{};
          for (std::size_t j = 0; j < n; ++j)
            sum += scores[j] * v(b * s.keys + j, g * s.value_size + c);
          z(b * s.queries + i, g * s.value_size + c) = sum;
        }
      }
}

template <class S>
void attention_backward(Matrix<S> dq, Matrix<S> dk, Matrix<S> dv, Matrix<const S> dz,
                        View<const S, 4> stats, Matrix<const S> q, Matrix<const S> k,
                        Matrix<const S> v, const AttentionShape& s, View<S, 2> scratch) {
  using std::exp;
  for (const Matrix<S>& d : {dq, dk, dv})
    for (std::size_t i = 0; i < d.rows; ++i) std::fill_n(d.row(i), d.cols, S{});
  S* weights = scratch.data;
  S* dweights = scratch.data + s.keys;
  for (std::size_t b = 0; b < s.batch; ++b)
    for (std::size_t g = 0; g < s.copies * s.heads; ++g)
      for (std::size_t i = 0; i < s.queries; ++i) {
        const std::size_t n = attention_detail::visible(s, i), row = b * s.queries + i;
        attention_detail::scores_of(weights, q, k, s, b, g, i);
        S mean{};
        for (std::size_t j = 0; j < n; ++j) {
          weights[j] = exp(weights[j] - stats(b, g, 0, i)) * stats(b, g, 1, i);
          dweights[j] = S{};
          for (std::size_t c = 0; c < s.value_size; ++c) {
            const S dzc = dz(row, g * s.value_size + c);
            dweights[j] += dzc * v(b * s.keys + j, g * s.value_size + c);
            dv(b * s.keys + j, g * s.value_size + c) += weights[j] * dzc;
          }
          mean += weights[j] * dweights[j];
        }
        for (std::size_t j = 0; j < n; ++j) {
          const S dscore = s.scale * weights[j] * (dweights[j] - mean);
          for (std::size_t c = 0; c < s.key_size; ++c) {
            dq(row, g * s.key_size + c) += dscore * k(b * s.keys + j, g * s.key_size + c);
            dk(b * s.keys + j, g * s.key_size + c) += dscore * q(row, g * s.key_size + c);
          }
        }
      }
}

}  // namespace headroom::reference
