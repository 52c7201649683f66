// Matrix products, single-threaded: the building block that the parallel kernels call inside their
// tiles.
#pragma once

#include <string>

#include "core/view.h"

namespace headroom::kernels {

enum class Transpose { kNo, kYes };

// c (m,n) = alpha * op(a) op(b) + beta * c, op(a) (m,k), op(b) (k,n). Runs in the calling thread.
void matmul(Matrix<float> c, Matrix<const float> a, Transpose ta, Matrix<const float> b,
            Transpose tb, float alpha, float beta);

// "oneDNN 2.6.3".
std::string matmul_library();

}  // namespace headroom::kernels
