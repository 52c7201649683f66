#include "kernels/ffn.h"

#include <algorithm>

#include "core/parallel.h"
#include "core/phases.h"
#include "kernels/activation.h"
#include "kernels/linear.h"
#include "kernels/matmul.h"
#include "kernels/row_groups.h"
#include "kernels/rows.h"
#include "kernels/vector.h"

namespace headroom::kernels {
namespace {

// A tile of hidden units: kRows x kUnits floats stay in the second-level cache with what they are
// multiplied by.
constexpr std::size_t kRows = 256, kUnits = 128;
RowGroups row_groups(std::size_t rows) { return {rows, kRows}; }

// One worker's buffers: inputs of a tile's units, the units, and the gradients of both.
struct Tile {
  Matrix<float> input, unit, dinput, dunit;
  // `rows` rows of `units` units, packed at the front of the worker's memory.
  Tile(View<float, 1> memory, std::size_t rows, std::size_t units, Activation f) {
    const std::size_t n = inputs_a_unit(f), size = kRows * kUnits;
    const auto matrix = [&](std::size_t at, std::size_t cols) {
      return Matrix<float>(memory.data + at, rows, cols, cols);
    };
    input = matrix(0, n * units);
    dinput = matrix(n * size, n * units);
    unit = matrix(2 * n * size, units);
    dunit = n == 1 ? dinput : matrix((2 * n + 1) * size, units);  // f'(input) works in place
  }
  static std::size_t floats(Activation f) { return (2 * inputs_a_unit(f) + 2) * kRows * kUnits; }
};

// Units first .. first + count - 1, of all units, as rows of W1 or columns of a tile: one range, or
// the gates' and the others'.
struct Units {
  std::size_t first, count, all, inputs;

  // body(rows of W1, columns of a tile of these units alone)
  template <class Body>
  void for_each_part(const Body& body) const {
    for (std::size_t i = 0; i < inputs; ++i) body(i * all + first, i * count);
  }
  // Their inputs, of `n` rows from `row`: the inputs of all rows to one tile of units are together.
  template <class T>
  Matrix<T> kept(View<T, 2> hidden, std::size_t row, std::size_t n) const {
    const std::size_t cols = inputs * count;
    return {hidden.data + hidden.dims[0] * inputs * first + row * cols, n, cols, cols};
  }
};

// Product is matmul, or matmul_unrecorded for what was computed before.
template <class Product>
void compute_inputs(Matrix<float> to, Matrix<const float> x, const FfnWeights<const float>& w,
                    const Units& u, const Product& product) {
  u.for_each_part([&](std::size_t row, std::size_t col) {
    const Matrix<float> part = to.col_range(col, u.count);
    const bool biased = w.up_bias.dims[0] > 0;
    for (std::size_t i = 0; biased && i < part.rows; ++i)
      std::copy_n(w.up_bias.data + row, u.count, part.row(i));
    product(part, x, Transpose::kNo, w.up.range(row, u.count), Transpose::kYes, 1.0f,
            biased ? 1.0f : 0.0f);
  });
}

// One group's share of the weight gradients, cut from its memory.
struct Share {
  View<float, 2> up, down;
  float* up_bias;
  Share(float* p, std::size_t inputs, std::size_t width, std::size_t hidden)
      : up(p, {inputs * hidden, width}),
        down(p + up.size(), {width, hidden}),
        up_bias(down.data + down.size()) {}
  static std::size_t floats(const FfnShape& s) {
    const std::size_t inputs = inputs_a_unit(s.activation);
    return round_up_to_lanes((inputs + 1) * s.hidden * s.width + inputs * s.hidden);
  }
};

FfnShape shape_of(View<const float, 2> x, const FfnWeights<const float>& w, Activation f) {
  return {x.dims[0], w.down.dims[0], w.down.dims[1], f};
}

}  // namespace

bool fused_ffn_pays(const FfnShape& s) { return s.width <= 256; }  // by measurement

bool keeping_hidden_pays(const FfnShape& s) {  // by measurement
  constexpr std::size_t kInCache = 1 << 18;
  return s.width >= 128 || s.rows * inputs_a_unit(s.activation) * s.hidden <= kInCache;
}

std::size_t fused_ffn_scratch(const FfnShape& s) { return Tile::floats(s.activation); }

std::size_t fused_ffn_partials(const FfnShape& s) {
  return row_groups(s.rows).groups() * Share::floats(s);
}

void fused_ffn_forward(View<float, 2> y, View<float, 2> hidden, View<const float, 2> x,
                       const FfnWeights<const float>& w, Activation f, View<float, 2> workers) {
  const FfnShape s = shape_of(x, w, f);
  constexpr std::size_t kForwardRows = 128;  // more tiles: nothing is added up across them
  parallel_rows(s.rows, kForwardRows, [&](std::size_t first, std::size_t count) {
    const Matrix<float> out = y.range(first, count);
    for (std::size_t unit = 0; unit < s.hidden; unit += kUnits) {
      const Units u{unit, std::min(kUnits, s.hidden - unit), s.hidden, inputs_a_unit(f)};
      const Tile tile(workers[worker()], count, u.count, f);
      const Matrix<float> input = hidden.empty() ? tile.input : u.kept(hidden, first, count);
      compute_inputs(input, x.range(first, count), w, u, matmul);
      {
        const PhaseScope scope(Phase::kActivation);
        activate(f, tile.unit, input);
      }
      matmul(out, tile.unit, Transpose::kNo, Matrix<const float>(w.down).col_range(unit, u.count),
             Transpose::kYes, 1.0f, unit == 0 ? 0.0f : 1.0f);
    }
    if (w.down_bias.dims[0] > 0) add_row(out, w.down_bias.data);
  });
}

void fused_ffn_backward(View<float, 2> dx, const FfnWeights<float>& dw, View<const float, 2> dy,
                        View<const float, 2> x, View<const float, 2> hidden,
                        const FfnWeights<const float>& w, Activation f, View<float, 1> partials,
                        View<float, 2> workers) {
  const FfnShape s = shape_of(x, w, f);
  const RowGroups groups = row_groups(s.rows);
  const std::size_t inputs = inputs_a_unit(f), share_size = Share::floats(s);
  parallel_rows(s.rows, groups.size, [&](std::size_t group_first, std::size_t group_count) {
    const Share share(partials.data + group_first / groups.size * share_size, inputs, s.width,
                      s.hidden);
    for (std::size_t unit = 0; unit < s.hidden; unit += kUnits) {
      const Units u{unit, std::min(kUnits, s.hidden - unit), s.hidden, inputs};
      for (std::size_t at = 0; at < group_count; at += kRows) {
        const std::size_t first = group_first + at, count = std::min(kRows, group_count - at);
        const float more_rows = at == 0 ? 0.0f : 1.0f, more_units = unit == 0 ? 0.0f : 1.0f;
        const Matrix<const float> in = x.range(first, count), dout = dy.range(first, count);
        const Matrix<float> din = dx.range(first, count);
        const Tile tile(workers[worker()], count, u.count, f);
        const Matrix<const float> input =
            hidden.empty() ? Matrix<const float>(tile.input) : u.kept(hidden, first, count);
        if (hidden.empty()) compute_inputs(tile.input, in, w, u, matmul_unrecorded);
        matmul(tile.dunit, dout, Transpose::kNo,
               Matrix<const float>(w.down).col_range(unit, u.count), Transpose::kNo, 1.0f, 0.0f);
        {
          const PhaseScope scope(Phase::kActivation);
          activate_again_and_backward(f, tile.unit, tile.dinput, tile.dunit, input);
        }
        matmul(Matrix<float>(share.down).col_range(unit, u.count), dout, Transpose::kYes, tile.unit,
               Transpose::kNo, 1.0f, more_rows);
        u.for_each_part([&](std::size_t row, std::size_t col) {
          const Matrix<float> part = tile.dinput.col_range(col, u.count);
          matmul(share.up.range(row, u.count), part, Transpose::kYes, in, Transpose::kNo, 1.0f,
                 more_rows);
          column_sums(share.up_bias + row, part, at > 0);
          matmul(din, part, Transpose::kNo, w.up.range(row, u.count), Transpose::kNo, 1.0f,
                 col == 0 ? more_units : 1.0f);
        });
      }
    }
  });
  const std::size_t n = groups.groups();
  const Share front(partials.data, inputs, s.width, s.hidden);
  add_shares(dw.up.data, dw.up.size(), front.up.data, n, share_size);
  add_shares(dw.down.data, dw.down.size(), front.down.data, n, share_size);
  if (dw.up_bias.dims[0] > 0)
    add_shares(dw.up_bias.data, dw.up_bias.size(), front.up_bias, n, share_size);
  bias_backward(dw.down_bias, dy, 1.0);
}

}  // namespace headroom::kernels
