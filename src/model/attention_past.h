// One token a sequence behind tokens that an earlier forward saw: their keys and values are those
// of that forward.
#pragma once

#include <algorithm>

#include "core/parallel.h"
#include "core/view.h"

namespace headroom {

// What that forward, of T tokens a sequence, left in an attention layer.
template <class S>
struct AttentionPast {
  Matrix<const S> k, v;  // (B*T, keys), (B*T, values)
};

// Of each of B sequences the first Tk - 1 rows of its past (B*T, n), then its own row (B, n):
// joined (B*Tk, n).
template <class S>
void join_past(Matrix<S> joined, Matrix<const S> past, Matrix<const S> own) {
  const std::size_t batch = own.rows, tokens = past.rows / batch, keys = joined.rows / batch;
  parallel_for(batch, [&](std::size_t b) {
    for (std::size_t t = 0; t + 1 < keys; ++t)
      std::copy_n(past.row(b * tokens + t), own.cols, joined.row(b * keys + t));
    std::copy_n(own.row(b), own.cols, joined.row(b * keys + keys - 1));
  });
}

}  // namespace headroom
