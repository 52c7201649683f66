// The fused feed-forward layer against its parts in double, and its promise about threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/arena.h"
#include "kernels/ffn.h"
#include "kernels/fused.h"
#include "kernels/products.h"
#include "kernels/tile_matmul.h"
#include "reference/activation.h"
#include "reference/linear.h"

namespace headroom::ffn_test {

using kernels::FfnShape;
using kernels::FfnWeights;

// All that goes in and comes out of one layer; gradients of parameters start at 1, for they
// accumulate.
template <class S>
struct Layer {
  Arena<S> memory{1 << 22};
  View<S, 2> x, dy, y, dx;
  FfnWeights<S> w, dw;

  Layer(const FfnShape& s, bool bias) {
    const std::size_t inputs = inputs_a_unit(s.activation) * s.hidden, biases = bias ? 1 : 0;
    const auto weights = [&] {
      return FfnWeights<S>{memory.take(inputs, s.width), memory.take(biases, inputs),
                           memory.take(s.width, s.hidden), memory.take(biases, s.width)};
    };
    for (View<S, 2>* v : {&x, &dy, &y, &dx}) *v = memory.take(s.rows, s.width);
    w = weights();
    dw = weights();
    std::uint64_t drawn = 0;
    for (const View<S, 2>& v : {x, dy, w.up, w.up_bias, w.down, w.down_bias})
      fill_normal(v, drawn++);
    for (const View<S, 2>& v : gradients()) std::fill_n(v.data, v.size(), S{1});
  }
  FfnWeights<const S> weights() const { return {w.up, w.up_bias, w.down, w.down_bias}; }
  std::vector<View<S, 2>> gradients() const { return {dw.up, dw.up_bias, dw.down, dw.down_bias}; }
  std::vector<View<S, 2>> results() const {
    return {y, dx, dw.up, dw.up_bias, dw.down, dw.down_bias};
  }
};

void run_fused(const Layer<float>& l, const FfnShape& s, bool keep = true) {
  const std::size_t worker = kernels::fused_ffn_scratch(s), n = static_cast<std::size_t>(threads());
  const std::size_t inputs = inputs_a_unit(s.activation) * s.hidden;
  Arena<float> scratch(n * worker + kernels::fused_ffn_partials(s) + kernels::fused_ffn_layouts(s) +
                       s.rows * inputs + 64);
  const kernels::FfnMemory memory{scratch.take(n, worker),
                                  scratch.take(kernels::fused_ffn_partials(s)),
                                  scratch.take(kernels::fused_ffn_layouts(s))};
  const View<float, 2> hidden = keep ? scratch.take(s.rows, inputs) : View<float, 2>();
  kernels::fused_ffn_forward(l.y, hidden, l.x, l.weights(), s.activation, memory);
  kernels::fused_ffn_backward(l.dx, l.dw, l.dy, l.x, hidden, l.weights(), s.activation, memory);
}

void run_parts(const Layer<double>& l, const FfnShape& s) {
  const std::size_t inputs = inputs_a_unit(s.activation) * s.hidden;
  Arena<double> memory(2 * s.rows * (inputs + s.hidden) + 64);
  using V = View<const double, 2>;
  const View<double, 2> in = memory.take(s.rows, inputs), din = memory.take(s.rows, inputs),
                        unit = memory.take(s.rows, s.hidden), dunit = memory.take(s.rows, s.hidden);
  const FfnWeights<const double> w = l.weights();
  reference::linear_forward<double>(in, V(l.x), w.up, w.up_bias, 1.0);
  reference::activation_forward<double>(unit, in, s.activation);
  reference::linear_forward<double>(l.y, V(unit), w.down, w.down_bias, 1.0);
  reference::linear_backward_params<double>(l.dw.down, l.dw.down_bias, V(l.dy), V(unit), 1.0);
  reference::linear_backward_input<double>(dunit, V(l.dy), w.down, 1.0);
  reference::activation_backward<double>(din, dunit, in, s.activation);
  reference::linear_backward_params<double>(l.dw.up, l.dw.up_bias, V(din), V(l.x), 1.0);
  reference::linear_backward_input<double>(l.dx, V(din), w.up, 1.0);
}

TEST(FusedFfn, FollowsItsParts) {
  for (const Activation f : {Activation::kRelu, Activation::kGelu, Activation::kGeluTanh,
                             Activation::kSilu, Activation::kSwiglu})
    for (const bool bias : {false, true})
      // one tile; ragged tiles of units; two ragged groups; groups of several tiles
      for (const FfnShape& s : {FfnShape{5, 3, 7, f}, FfnShape{130, 16, 150, f},
                                FfnShape{300, 5, 129, f}, FfnShape{4500, 2, 9, f}}) {
        SCOPED_TRACE(testing::Message() << s.rows << " x " << s.width << " x " << s.hidden << ", "
                                        << static_cast<int>(f) << (bias ? ", biased" : ""));
        const Layer<float> kept(s, bias), again(s, bias);
        const Layer<double> slow(s, bias);
        run_fused(kept, s);
        run_fused(again, s, false);
        run_parts(slow, s);
        expect_near(kept.results(), slow.results());
        expect_near(again.results(), slow.results());
      }
}

// Operands laid out once for several products: of the rows of a tile, of the maps, of the units.
TEST(FusedFfn, TilesFollowRoundedOperands) {
  if (!kernels::has_tiles()) GTEST_SKIP() << "needs AMX";
  for (const Activation f : {Activation::kRelu, Activation::kSwiglu})
    for (const FfnShape& s : {FfnShape{5, 3, 7, f}, FfnShape{300, 40, 150, f},
                              FfnShape{4500, 16, 9, f}, FfnShape{8400, 33, 130, f}}) {
      SCOPED_TRACE(testing::Message() << s.rows << " x " << s.width << " x " << s.hidden);
      const Layer<float> slow(s, true);
      {
        const OperandsScope scope(kernels::Operands::kRoundedToBfloat16);
        run_fused(slow, s);
      }
      const OperandsScope scope(kernels::Operands::kBfloat16Tiles);
      for (const bool keep : {true, false}) {
        const Layer<float> layer(s, true);
        run_fused(layer, s, keep);
        for (std::size_t r = 0; r < layer.results().size(); ++r) {
          double largest = 1, apart = 0;
          for (std::size_t i = 0; i < layer.results()[r].size(); ++i) {
            const double want = slow.results()[r].data[i], got = layer.results()[r].data[i];
            largest = std::max(largest, std::abs(want));
            apart = std::max(apart, std::abs(got - want));
          }
          // Sums in another order, some of which round to the other bfloat16 beside them.
          EXPECT_LT(apart, 0.01 * largest) << "result " << r;
        }
      }
      expect_same_bits_with_any_threads([&] {
        const Layer<float> layer(s, true);
        run_fused(layer, s);
        return copies(layer.results());
      });
    }
}

// 16 groups of rows backward, 40 tiles forward: more than threads everywhere.
TEST(FusedFfn, GivesTheSameBitsWithAnyNumberOfThreads) {
  const FfnShape s{5000, 8, 200, Activation::kGeluTanh};
  expect_same_bits_with_any_threads([&] {
    const Layer<float> layer(s, true);
    run_fused(layer, s);
    return copies(layer.results());
  });
}

}  // namespace headroom::ffn_test
