// From the task's tokens to the residual stream: read-in and absolute positions. Query tokens go
// the same way, by the same parameters.
#pragma once

#include <algorithm>

#include "model/init.h"
#include "model/model.h"
#include "model/positions.h"

namespace headroom {

template <class S>
struct EmbeddingParams {
  View<S, 2> read_in, read_in_bias;  // (E,D), (1,E); absent where read_in is identity
  View<S, 2> positions;              // (length,C) learned, (length,C - E) concatenated, else absent
};

template <class S>
EmbeddingParams<S> embedding_params(Binder<S>& b, const ModelConfig& c, const ModelIo& io) {
  EmbeddingParams<S> p;
  const std::size_t embedded = embedded_width(c);
  if (c.read_in == ReadIn::kLinear) {
    const LinearInit init = read_in_init(c, io.input_dim);
    p.read_in = b.template tensor<2>("read_in.weight", {embedded, io.input_dim}, init.weight, true);
    p.read_in_bias = bias_row(b, c.bias, "read_in.bias", embedded, init.bias);
  }
  if (c.positions.type == PositionsType::kLearned ||
      c.positions.type == PositionsType::kConcatenated) {
    const std::size_t width =
        c.positions.type == PositionsType::kLearned ? c.width : c.width - embedded;
    p.positions = b.template tensor<2>("positions.weight", {*c.positions.length, width},
                                       positions_init(c), false);
  }
  return p;
}

// The columns that hold positions: all of them, or those beside the token.
template <class T>
Matrix<T> position_columns(const ModelConfig& c, Matrix<T> x) {
  const std::size_t first =
      c.positions.type == PositionsType::kConcatenated ? embedded_width(c) : 0;
  return x.col_range(first, c.width - first);
}

// x (B,T,C) from tokens (B,T,D); sinusoidal (>=T,C) is the scheme's table.
template <class S>
void embedding_forward(const ModelConfig& c, View<S, 3> x, View<const S, 3> tokens,
                       View<const S, 2> sinusoidal, const EmbeddingParams<S>& p) {
  const Matrix<S> rows = as_rows(x), embedded = rows.col_range(0, embedded_width(c));
  const View<const S, 2> from = as_rows(tokens);
  if (c.read_in == ReadIn::kLinear)
    ops::linear_forward<S>(embedded, from, p.read_in, p.read_in_bias, 1.0);
  else
    for (std::size_t i = 0; i < rows.rows; ++i) std::copy_n(&from(i, 0), from.dims[1], rows.row(i));
  const Matrix<S> to = position_columns(c, rows);
  if (c.positions.type == PositionsType::kConcatenated)
    for (std::size_t i = 0; i < to.rows; ++i) std::fill_n(to.row(i), to.cols, S{});
  if (!p.positions.empty()) ops::add_positions_forward<S>(to, p.positions, x.dims[1]);
  if (c.positions.type == PositionsType::kSinusoidal)
    ops::add_positions_forward<S>(to, sinusoidal, x.dims[1]);
}

// dp accumulates; dx (B*T,C), sequences of `tokens` dims.
template <class S>
void embedding_backward(const ModelConfig& c, const EmbeddingParams<S>& dp, View<const S, 2> dx,
                        View<const S, 3> tokens) {
  const Matrix<const S> rows = dx;
  if (!dp.positions.empty())
    ops::add_positions_backward<S>(dp.positions, position_columns(c, rows), tokens.dims[1]);
  if (c.read_in == ReadIn::kLinear)
    ops::linear_backward_params<S>(dp.read_in, dp.read_in_bias,
                                   rows.col_range(0, embedded_width(c)), as_rows(tokens), 1.0);
}

}  // namespace headroom
