// Softmax attention of heads with few key and value coordinates, heads along the vector: every sum
// is then a lane's own, and nothing is transposed or padded.
#pragma once

#include <cstddef>

#include "core/attention_shape.h"
#include "core/view.h"

namespace headroom::kernels {

// Whether heads are narrow and many enough for it.
bool narrow_heads_pay(const AttentionShape& shape);
// Floats of scratch.
std::size_t narrow_attention_scratch(const AttentionShape& shape);

// At most kLanes adjacent heads of one sequence, in the calling thread: q (Tq, n K), k (Tk, n K), v
// (Tk, n V), z (Tq, n V), stats (n,2,Tq) as in attention_softmax.h.
void attend_narrow_forward(Matrix<float> z, float* stats, Matrix<const float> q,
                           Matrix<const float> k, Matrix<const float> v,
                           const AttentionShape& shape, float* scratch);
void attend_narrow_backward(Matrix<float> dq, Matrix<float> dk, Matrix<float> dv,
                            Matrix<const float> dz, const float* stats, Matrix<const float> q,
                            Matrix<const float> k, Matrix<const float> v,
                            const AttentionShape& shape, float* scratch);
// The sums z again and all gradients, with one exponential a pair.
void attend_narrow_both(Matrix<float> z, Matrix<float> dq, Matrix<float> dk, Matrix<float> dv,
                        Matrix<const float> dz, Matrix<const float> q, Matrix<const float> k,
                        Matrix<const float> v, const AttentionShape& shape, float* scratch);

}  // namespace headroom::kernels
