#include "kernels/ffn.h"

#include <algorithm>
#include <array>

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

// One worker's buffers: inputs of a tile's units, the units, and the gradients of both; then memory
// for these as operands.
struct Tile {
  Matrix<float> input, unit, dinput, dunit;
  float* layouts;
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
    layouts = memory.data + floats(f);
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

// What is computed with a tile of units: forward, backward, or backward without their inputs.
enum class Pass { kForward, kBackward, kBackwardAgain };

// The parts of both maps that belong to a tile of units, as right operands.
struct Maps {
  std::array<Operand, 2> up, back;  // to the units' inputs, and from their gradients
  Operand down;                     // from the units, or to their gradients

  // place: lay_out, or laid_out where that was done before.
  template <class Place>
  Maps(const FfnWeights<const float>& w, const Units& u, Pass pass, float* memory,
       const Place& place) {
    u.for_each_part([&](std::size_t row, std::size_t col) {
      const View<const float, 2> part = w.up.range(row, u.count);
      const std::size_t i = col == 0 ? 0 : 1;
      if (pass != Pass::kBackward) up[i] = place(memory, Side::kRight, part, Transpose::kYes);
      if (pass != Pass::kForward) back[i] = place(memory, Side::kRight, part, Transpose::kNo);
    });
    down = place(memory, Side::kRight, Matrix<const float>(w.down).col_range(u.first, u.count),
                 pass == Pass::kForward ? Transpose::kYes : Transpose::kNo);
  }
};

// The maps of one pass, laid out at once for all rows; without memory as they lie.
class AllMaps {
 public:
  AllMaps(const FfnWeights<const float>& w, const FfnShape& s, Pass pass, View<float, 1> memory)
      : w_(w), shape_(s), pass_(pass), memory_(memory) {
    if (memory.empty()) return;
    parallel_for(tiles(s),
                 [&](std::size_t tile) { Maps(w, units(tile), pass, at(tile), lay_out); });
  }
  // body(units, their maps), in order.
  template <class Body>
  void for_each_tile(const Body& body) const {
    for (std::size_t tile = 0; tile < tiles(shape_); ++tile) {
      const Units u = units(tile);
      body(u, Maps(w_, u, pass_, at(tile), kernels::laid_out));
    }
  }
  bool laid_out() const { return !memory_.empty(); }
  static std::size_t floats(const FfnShape& s) { return tiles(s) * tile_floats(s); }

 private:
  static std::size_t tiles(const FfnShape& s) { return (s.hidden + kUnits - 1) / kUnits; }
  static std::size_t tile_floats(const FfnShape& s) {
    return (2 * inputs_a_unit(s.activation) + 1) * layout_floats(kUnits, s.width);
  }
  Units units(std::size_t tile) const {
    const std::size_t first = tile * kUnits;
    return {first, std::min(kUnits, shape_.hidden - first), shape_.hidden,
            inputs_a_unit(shape_.activation)};
  }
  float* at(std::size_t tile) const {
    return memory_.empty() ? nullptr : memory_.data + tile * tile_floats(shape_);
  }

  const FfnWeights<const float>& w_;
  const FfnShape& shape_;
  Pass pass_;
  View<float, 1> memory_;
};

// A tile's rows of x and dy: as left operands, and across their columns, for sums over the rows.
struct RowOperands {
  Operand in, in_down, dout, dout_down;
  float* rest;  // memory of a tile of units' operands

  // layouts: a worker's, or nullptr; tile: of rows; place as above.
  template <class Place>
  RowOperands(Matrix<const float> x, Matrix<const float> dy, float* layouts, std::size_t tile,
              bool again, const Place& place)
      : rest(layouts) {
    if (layouts != nullptr)
      layouts += kUnitOperands * layout_floats(kRows, kUnits) + tile * tile_floats(x.cols);
    if (again) in = place(layouts, Side::kLeft, x, Transpose::kNo);
    in_down = place(layouts, Side::kRight, x, Transpose::kNo);
    dout = place(layouts, Side::kLeft, dy, Transpose::kNo);
    dout_down = place(layouts, Side::kLeft, dy, Transpose::kYes);
  }
  static std::size_t floats(const FfnShape& s) {
    const std::size_t tiles = (row_groups(s.rows).size + kRows - 1) / kRows;
    return kUnitOperands * layout_floats(kRows, kUnits) + tiles * tile_floats(s.width);
  }

 private:
  static constexpr std::size_t kUnitOperands = 2;  // at once
  static std::size_t tile_floats(std::size_t width) { return 4 * layout_floats(kRows, width); }
};

// again: they were computed before.
void compute_inputs(Matrix<float> to, const Operand& x, const FfnWeights<const float>& w,
                    const Units& u, const Maps& maps, bool again) {
  u.for_each_part([&](std::size_t row, std::size_t col) {
    const Matrix<float> part = to.col_range(col, u.count);
    const bool biased = w.up_bias.dims[0] > 0;
    for (std::size_t i = 0; biased && i < part.rows; ++i)
      std::copy_n(w.up_bias.data + row, u.count, part.row(i));
    const Operand& map = maps.up[col == 0 ? 0 : 1];
    const float beta = biased ? 1.0f : 0.0f;
    again ? multiply_unrecorded(part, x, map, beta) : multiply(part, x, map, beta);
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

std::size_t fused_ffn_scratch(const FfnShape& s) {
  return Tile::floats(s.activation) + RowOperands::floats(s);
}

std::size_t fused_ffn_partials(const FfnShape& s) {
  return row_groups(s.rows).groups() * Share::floats(s);
}

std::size_t fused_ffn_layouts(const FfnShape& s) { return AllMaps::floats(s); }

void fused_ffn_forward(View<float, 2> y, View<float, 2> hidden, View<const float, 2> x,
                       const FfnWeights<const float>& w, Activation f, const FfnMemory& memory) {
  const FfnShape s = shape_of(x, w, f);
  const AllMaps all(w, s, Pass::kForward, memory.layouts);
  constexpr std::size_t kForwardRows = 128;  // more tiles: nothing is added up across them
  parallel_rows(s.rows, kForwardRows, [&](std::size_t first, std::size_t count) {
    const Matrix<float> out = y.range(first, count);
    all.for_each_tile([&](const Units& u, const Maps& maps) {
      const Tile tile(memory.workers[worker()], count, u.count, f);
      const Matrix<float> input = hidden.empty() ? tile.input : u.kept(hidden, first, count);
      float* layouts = all.laid_out() ? tile.layouts : nullptr;
      const auto place = u.first == 0 ? lay_out : laid_out;
      const Operand in = place(layouts, Side::kLeft, x.range(first, count), Transpose::kNo);
      compute_inputs(input, in, w, u, maps, false);
      {
        const PhaseScope scope(Phase::kActivation);
        activate(f, tile.unit, input);
      }
      multiply(out, lay_out(layouts, Side::kLeft, tile.unit, Transpose::kNo), maps.down,
               u.first == 0 ? 0.0f : 1.0f);
    });
    if (w.down_bias.dims[0] > 0) add_row(out, w.down_bias.data);
  });
}

void fused_ffn_backward(View<float, 2> dx, const FfnWeights<float>& dw, View<const float, 2> dy,
                        View<const float, 2> x, View<const float, 2> hidden,
                        const FfnWeights<const float>& w, Activation f, const FfnMemory& memory) {
  const FfnShape s = shape_of(x, w, f);
  const AllMaps all(w, s, hidden.empty() ? Pass::kBackwardAgain : Pass::kBackward, memory.layouts);
  const RowGroups groups = row_groups(s.rows);
  const std::size_t inputs = inputs_a_unit(f), share_size = Share::floats(s);
  parallel_rows(s.rows, groups.size, [&](std::size_t group_first, std::size_t group_count) {
    const Share share(memory.partials.data + group_first / groups.size * share_size, inputs,
                      s.width, s.hidden);
    all.for_each_tile([&](const Units& u, const Maps& maps) {
      for (std::size_t at = 0; at < group_count; at += kRows) {
        const std::size_t first = group_first + at, count = std::min(kRows, group_count - at);
        const float more_rows = at == 0 ? 0.0f : 1.0f, more_units = u.first == 0 ? 0.0f : 1.0f;
        const Matrix<float> din = dx.range(first, count);
        const Tile tile(memory.workers[worker()], count, u.count, f);
        const RowOperands rows(x.range(first, count), dy.range(first, count),
                               all.laid_out() ? tile.layouts : nullptr, at / kRows, hidden.empty(),
                               u.first == 0 ? lay_out : laid_out);
        const Matrix<const float> input =
            hidden.empty() ? Matrix<const float>(tile.input) : u.kept(hidden, first, count);
        if (hidden.empty()) compute_inputs(tile.input, rows.in, w, u, maps, true);
        multiply(tile.dunit, rows.dout, maps.down, 0.0f);
        {
          const PhaseScope scope(Phase::kActivation);
          activate_again_and_backward(f, tile.unit, tile.dinput, tile.dunit, input);
        }
        float* layouts = rows.rest;
        multiply(Matrix<float>(share.down).col_range(u.first, u.count), rows.dout_down,
                 lay_out(layouts, Side::kRight, tile.unit, Transpose::kNo), more_rows);
        u.for_each_part([&](std::size_t row, std::size_t col) {
          const Matrix<float> part = tile.dinput.col_range(col, u.count);
          layouts = rows.rest;
          multiply(share.up.range(row, u.count),
                   lay_out(layouts, Side::kLeft, part, Transpose::kYes), rows.in_down, more_rows);
          column_sums(share.up_bias + row, part, at > 0);
          multiply(din, lay_out(layouts, Side::kLeft, part, Transpose::kNo),
                   maps.back[col == 0 ? 0 : 1], col == 0 ? more_units : 1.0f);
        });
      }
    });
  });
  const std::size_t n = groups.groups();
  const Share front(memory.partials.data, inputs, s.width, s.hidden);
  add_shares(dw.up.data, dw.up.size(), front.up.data, n, share_size);
  add_shares(dw.down.data, dw.down.size(), front.down.data, n, share_size);
  if (dw.up_bias.dims[0] > 0)
    add_shares(dw.up_bias.data, dw.up_bias.size(), front.up_bias, n, share_size);
  bias_backward(dw.down_bias, dy, 1.0);
}

}  // namespace headroom::kernels
