// Attention with all its variants: talking heads (scores mixed before, weights after; Shazeer et
// al. 2020), grouped queries, biases by distance, and other weights than softmax. Works through
// panels of queries, so that the scores of all heads of a copy for one panel lie in cache and are
// never in memory as a whole.
#pragma once

#include <cstddef>

#include "core/attention_shape.h"
#include "core/view.h"

namespace headroom::kernels {

// Floats of scratch one worker needs, and of `partials` for the gradients of the mixers and biases.
std::size_t mixed_attention_scratch(const AttentionShape& shape);
std::size_t mixed_attention_partials(const AttentionShape& shape);

// q (B*Tq, c h_k K); k (B*Tk, c h_k/group K), or (B*Tk, K) with shape.shared_key; v (B*Tk, c
// h_v/group V); z (B*Tq, c h_v V), all head-major. scores_k = scale q_k k_k^T; logits_h = sum over
// k of m.scores(h, k) scores_k + m.bias(h), then the mask; weights_h by shape.type; sums_v = sum
// over h of m.weights(v, h) weights_h; z_v = sums_v v_v. stats (B, c h, 2, Tq) as in
// attention_softmax.h.
void mixed_attention_forward(Matrix<float> z, View<float, 4> stats, Matrix<const float> q,
                             Matrix<const float> k, Matrix<const float> v,
                             const AttentionMixers<const float>& m, const AttentionShape& shape,
                             View<float, 2> scratch);

// dq, dk, dv are written, dm accumulates; partials (mixed_attention_partials) is scratch.
void mixed_attention_backward(Matrix<float> dq, Matrix<float> dk, Matrix<float> dv,
                              const AttentionMixers<float>& dm, Matrix<const float> dz,
                              View<const float, 4> stats, Matrix<const float> q,
                              Matrix<const float> k, Matrix<const float> v,
                              const AttentionMixers<const float>& m, const AttentionShape& shape,
                              View<float, 1> partials, View<float, 2> scratch);

}  // namespace headroom::kernels
