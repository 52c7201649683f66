// Softmax attention of many heads over the projected queries, keys and values.
#pragma once

#include <cstddef>

#include "core/attention_shape.h"
#include "core/view.h"

namespace headroom::kernels {

// Floats of scratch one worker needs; scratch below is (workers, this).
std::size_t attention_scratch(const AttentionShape& shape);

// z (B*Tq, G*V): softmax over the visible keys of scale * q k^T, times v. q (B*Tq, G*K), k (B*Tk,
// G*K), v (B*Tk, G*V), head-major columns. stats (B,G,2,Tq) keeps each row's largest score and 1 /
// sum of exponentials for backward; a row that sees nothing gives 0.
void attention_forward(Matrix<float> z, View<float, 4> stats, Matrix<const float> q,
                       Matrix<const float> k, Matrix<const float> v, const AttentionShape& shape,
                       View<float, 2> scratch);

// dq, dk, dv are written. The weights are recomputed from q, k and stats.
void attention_backward(Matrix<float> dq, Matrix<float> dk, Matrix<float> dv,
                        Matrix<const float> dz, View<const float, 4> stats, Matrix<const float> q,
                        Matrix<const float> k, Matrix<const float> v, const AttentionShape& shape,
                        View<float, 2> scratch);

// Adjacent heads of one sequence in the calling thread, for kernels that have theirs in cache: q
// (Tq,n K), k (Tk,n K), v (Tk,n V), z (Tq,n V), stats (n,2,Tq), scratch of attention_scratch
// floats.
void attend_forward(Matrix<float> z, float* stats, Matrix<const float> q, Matrix<const float> k,
                    Matrix<const float> v, const AttentionShape& shape, float* scratch);
void attend_backward(Matrix<float> dq, Matrix<float> dk, Matrix<float> dv, Matrix<const float> dz,
                     const float* stats, Matrix<const float> q, Matrix<const float> k,
                     Matrix<const float> v, const AttentionShape& shape, float* scratch);
// Both for the price of one exponential a pair, where the sums were not kept; stats is scratch.
void attend_both(Matrix<float> z, Matrix<float> dq, Matrix<float> dk, Matrix<float> dv,
                 float* stats, Matrix<const float> dz, Matrix<const float> q, Matrix<const float> k,
                 Matrix<const float> v, const AttentionShape& shape, float* scratch);

}  // namespace headroom::kernels
