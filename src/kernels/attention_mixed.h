// Attention with all its variants: talking heads (scores mixed before, weights after; Shazeer et
// al. 2020), grouped queries, and other weights than softmax. Works through panels of queries, so
// that the scores of all heads of a copy for one panel lie in cache and are never in memory as a
// whole.
#pragma once

#include <cstddef>

#include "core/attention_shape.h"
#include "core/view.h"

namespace headroom::kernels {

// Floats of scratch one worker needs, and of `partials` for the gradients of the mixers.
std::size_t mixed_attention_scratch(const AttentionShape& shape);
std::size_t mixed_attention_partials(const AttentionShape& shape);

// q (B*Tq, c h_k K); k (B*Tk, c h_k/group K), v (B*Tk, c h_v/group V); z (B*Tq, c h_v V), all
// head-major. scores_k = scale q_k k_k^T; logits_h = sum over k of mix_scores(h, k) scores_k, then
// the mask; weights_h by shape.type; sums_v = sum over h of mix_weights(v, h) weights_h; z_v =
// sums_v v_v. mix_scores (c,h,h_k) and mix_weights (c,h_v,h) are empty where there is no mixing.
// stats (B, c h, 2, Tq) as in attention_softmax.h.
void mixed_attention_forward(Matrix<float> z, View<float, 4> stats, Matrix<const float> q,
                             Matrix<const float> k, Matrix<const float> v,
                             View<const float, 3> mix_scores, View<const float, 3> mix_weights,
                             const AttentionShape& shape, View<float, 2> scratch);

// dq, dk, dv are written, dmix_scores and dmix_weights accumulate; partials
// (mixed_attention_partials) is scratch.
void mixed_attention_backward(Matrix<float> dq, Matrix<float> dk, Matrix<float> dv,
                              View<float, 3> dmix_scores, View<float, 3> dmix_weights,
                              Matrix<const float> dz, View<const float, 4> stats,
                              Matrix<const float> q, Matrix<const float> k, Matrix<const float> v,
                              View<const float, 3> mix_scores, View<const float, 3> mix_weights,
                              const AttentionShape& shape, View<float, 1> partials,
                              View<float, 2> scratch);

}  // namespace headroom::kernels
