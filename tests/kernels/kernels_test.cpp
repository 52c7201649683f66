// The remaining kernels against their reference twins, at sizes that leave vector tails and single
// rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/arena.h"
#include "core/rng.h"
#include "kernels/activation.h"
#include "kernels/heads.h"
#include "kernels/linear.h"
#include "kernels/loss.h"
#include "kernels/norm.h"
#include "kernels/residual.h"
#include "reference/activation.h"
#include "reference/heads.h"
#include "reference/linear.h"
#include "reference/loss.h"
#include "reference/norm.h"
#include "reference/residual.h"

namespace headroom::kernels_test {

// The same numbers as float and as double.
struct Pair {
  Arena<float> fast{1 << 20};
  Arena<double> slow{1 << 20};
  std::uint64_t drawn = 0;

  template <std::size_t N>
  std::pair<View<float, N>, View<double, N>> take(std::array<std::size_t, N> dims,
                                                  bool random = true) {
    const auto make = [&](auto& arena) {
      return std::apply([&](auto... d) { return arena.take(d...); }, dims);
    };
    std::pair<View<float, N>, View<double, N>> views{make(fast), make(slow)};
    if (random) Random(2, Purpose::kTest, 0, drawn++).fill_normal(views.first.flat());
    std::copy_n(views.first.data, views.first.size(), views.second.data);
    return views;
  }
};

template <class T>
Matrix<T> matrix(const View<T, 2>& v) {
  return v;
}

template <std::size_t N>
void expect_near(const std::pair<View<float, N>, View<double, N>>& p, const std::string& what) {
  double largest = 0.5;  // the entries are of order 1 or more; a lone sum may cancel
  for (double x : p.second.flat()) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < p.first.size(); ++i)
    ASSERT_NEAR(static_cast<double>(p.first.data[i]), p.second.data[i], 1e-5 * largest)
        << what << " at " << i;
}

using Dims1 = std::array<std::size_t, 1>;
using Dims2 = std::array<std::size_t, 2>;
using Dims3 = std::array<std::size_t, 3>;

TEST(Kernels, LinearFollowsItsTwin) {
  for (const std::size_t rows : {1, 3, 17, 300})
    for (const std::size_t in : {1, 5, 16, 33})
      for (const std::size_t out : {1, 7, 64, 130})
        for (const std::size_t biases : {0, 1, 3}) {
          Pair p;
          auto [x, x2] = p.take(Dims2{rows, in});
          auto [w, w2] = p.take(Dims2{out, in});
          auto [b, b2] = p.take(Dims2{biases, out});
          auto y = p.take(Dims2{rows, out}), dy = p.take(Dims2{rows, out});
          auto dx = p.take(Dims2{rows, in}), dw = p.take(Dims2{out, in}),
               db = p.take(Dims2{biases, out});
          kernels::linear_forward(y.first, View<const float, 2>(x), w, b, 0.5);
          reference::linear_forward<double>(y.second, View<const double, 2>(x2), w2, b2, 0.5);
          expect_near(y, "y");
          kernels::linear_backward_input(dx.first, View<const float, 2>(dy.first), w, 0.5);
          reference::linear_backward_input<double>(dx.second, View<const double, 2>(dy.second), w2,
                                                   0.5);
          expect_near(dx, "dx");
          kernels::linear_backward_input(dx.first, View<const float, 2>(dy.first), w, 0.5, 1.0);
          reference::linear_backward_input<double>(dx.second, View<const double, 2>(dy.second), w2,
                                                   0.5, 1.0);
          expect_near(dx, "dx added to");
          kernels::linear_backward_params(dw.first, db.first, View<const float, 2>(dy.first),
                                          View<const float, 2>(x), 0.5);
          reference::linear_backward_params<double>(dw.second, db.second,
                                                    View<const double, 2>(dy.second),
                                                    View<const double, 2>(x2), 0.5);
          expect_near(dw, "dw accumulates");
          expect_near(db, "db accumulates");
        }
}

TEST(Kernels, NormsFollowTheirTwins) {
  for (const std::size_t rows : {1, 3, 70})
    for (const std::size_t cols : {1, 2, 16, 67, 130}) {
      Pair p;
      auto [x, x2] = p.take(Dims2{rows, cols});
      auto [g, g2] = p.take(Dims1{cols});
      auto [b, b2] = p.take(Dims1{cols});
      auto [dy, dy2] = p.take(Dims2{rows, cols});
      auto y = p.take(Dims2{rows, cols}), dx = p.take(Dims2{rows, cols});
      auto mean = p.take(Dims1{rows}), inverse = p.take(Dims1{rows}), sums = p.take(Dims1{rows});
      auto dg = p.take(Dims1{cols}), db = p.take(Dims1{cols}), ds = p.take(Dims1{1}),
           s = p.take(Dims1{1});
      kernels::layernorm_forward(y.first, mean.first, inverse.first, x, g, b, 1e-2);
      reference::layernorm_forward<double>(y.second, mean.second, inverse.second, x2, g2, b2, 1e-2);
      expect_near(y, "layernorm");
      kernels::layernorm_backward(dx.first, dg.first, db.first, dy, x, mean.first, inverse.first,
                                  g);
      reference::layernorm_backward<double>(dx.second, dg.second, db.second, dy2, x2, mean.second,
                                            inverse.second, g2);
      expect_near(dx, "layernorm dx");
      expect_near(dg, "layernorm dg");
      expect_near(db, "layernorm db");
      kernels::rmsnorm_forward(y.first, inverse.first, x, g, 1e-2);
      reference::rmsnorm_forward<double>(y.second, inverse.second, x2, g2, 1e-2);
      expect_near(y, "rmsnorm");
      kernels::rmsnorm_backward(dx.first, dg.first, dy, x, inverse.first, g);
      reference::rmsnorm_backward<double>(dx.second, dg.second, dy2, x2, inverse.second, g2);
      expect_near(dx, "rmsnorm dx");
      expect_near(dg, "rmsnorm dg");
      for (const double eps : {0.0, 0.5, 4.0}) {
        kernels::l2norm_forward(y.first, inverse.first, x, s.first, eps);
        reference::l2norm_forward<double>(y.second, inverse.second, x2, s.second, eps);
        expect_near(y, "l2");
        kernels::l2norm_backward(dx.first, ds.first, sums.first, dy, x, inverse.first, s.first,
                                 eps);
        reference::l2norm_backward<double>(dx.second, ds.second, sums.second, dy2, x2,
                                           inverse.second, s.second, eps);
        expect_near(dx, "l2 dx");
        expect_near(ds, "l2 ds");
      }
    }
}

TEST(Kernels, L2NormOfAZeroRowIsZero) {
  Pair p;
  auto x = p.take(Dims2{2, 5});
  std::fill_n(x.first.data, 5, 0.0f);
  auto y = p.take(Dims2{2, 5}), dx = p.take(Dims2{2, 5}), dy = p.take(Dims2{2, 5});
  auto s = p.take(Dims1{1}), ds = p.take(Dims1{1}, false), inverse = p.take(Dims1{2}),
       sums = p.take(Dims1{2});
  kernels::l2norm_forward(y.first, inverse.first, x.first, s.first, 0);
  kernels::l2norm_backward(dx.first, ds.first, sums.first, dy.first, x.first, inverse.first,
                           s.first, 0);
  for (std::size_t c = 0; c < 5; ++c) {
    EXPECT_EQ(y.first(std::size_t{0}, c), 0.0f);
    EXPECT_EQ(dx.first(std::size_t{0}, c), 0.0f);
    EXPECT_NE(y.first(std::size_t{1}, c), 0.0f);
  }
}

constexpr Activation kAllActivations[] = {Activation::kRelu, Activation::kGelu,
                                          Activation::kGeluTanh, Activation::kSilu,
                                          Activation::kSwiglu};

TEST(Kernels, ActivationsFollowTheirTwins) {
  for (const Activation f : kAllActivations)
    for (std::size_t n = 1; n <= 67; ++n) {
      const std::string name = "activation " + std::to_string(static_cast<int>(f));
      Pair p;
      auto [x, x2] = p.take(Dims2{2, inputs_a_unit(f) * n});
      auto [dy, dy2] = p.take(Dims2{2, n});
      auto y = p.take(Dims2{2, n}), dx = p.take(Dims2{2, inputs_a_unit(f) * n});
      kernels::activation_forward(y.first, x, f);
      reference::activation_forward<double>(y.second, x2, f);
      expect_near(y, name);
      kernels::activation_backward(dx.first, dy, x, f);
      reference::activation_backward<double>(dx.second, dy2, x2, f);
      expect_near(dx, name + " dx");
    }
}

// The complex step takes erf's derivative for granted, so that of gelu is tried by differences.
TEST(Kernels, GeluSlopeIsThatOfItsValues) {
  for (double v = -6; v <= 6; v += 0.37) {
    constexpr double kStep = 1e-5;
    double x[2] = {v - kStep, v + kStep}, y[2], one = 1, at = v, slope = 0;
    reference::gelu_forward<double>({y, {1, 2}}, View<const double, 2>(x, {1, 2}));
    reference::gelu_backward<double>({&slope, {1, 1}}, View<const double, 2>(&one, {1, 1}),
                                     View<const double, 2>(&at, {1, 1}));
    EXPECT_NEAR(slope, (y[1] - y[0]) / (2 * kStep), 1e-9) << v;
  }
}

TEST(Kernels, HeadsFollowTheirTwins) {
  for (const std::size_t rows : {1, 6, 70})
    for (const std::size_t heads : {1, 3})
      for (const std::size_t size : {2, 4, 18}) {
        Pair p;
        // A range of the columns of a wider matrix, as in the layer.
        const std::size_t cols = heads * size, wide = cols + 5;
        auto x = p.take(Dims2{rows, wide}), d = p.take(Dims2{rows, wide}),
             y = p.take(Dims2{rows, cols});
        auto inverse = p.take(Dims2{rows, heads});
        auto scale = p.take(Dims1{heads}), dscale = p.take(Dims1{heads});
        const auto in = [&](auto& m) { return matrix(m).col_range(2, cols); };
        kernels::normalize_heads_forward(in(x.first), inverse.first, 3.0);
        reference::normalize_heads_forward<double>(in(x.second), inverse.second, 3.0);
        expect_near(x, "normalised");
        expect_near(inverse, "1 / length");
        kernels::normalize_heads_backward(in(d.first), in(x.first), inverse.first, 3.0);
        reference::normalize_heads_backward<double>(in(d.second), in(x.second), inverse.second,
                                                    3.0);
        expect_near(d, "normalised, gradient");
        auto table = p.take(Dims2{rows % 2 == 0 ? rows / 2 : rows, size});
        kernels::rotate_heads_forward(in(x.first), table.first);
        reference::rotate_heads_forward<double>(in(x.second), table.second);
        expect_near(x, "turned");
        kernels::rotate_heads_backward(in(d.first), table.first);
        reference::rotate_heads_backward<double>(in(d.second), table.second);
        expect_near(d, "turned back");
        kernels::scale_heads_forward(matrix(y.first), in(x.first), scale.first);
        reference::scale_heads_forward<double>(matrix(y.second), in(x.second), scale.second);
        expect_near(y, "scaled");
        kernels::scale_heads_backward(in(d.first), dscale.first, in(x.first), scale.first);
        reference::scale_heads_backward<double>(in(d.second), dscale.second, in(x.second),
                                                scale.second);
        expect_near(d, "scaled, gradient");
        expect_near(dscale, "dscale accumulates");
        auto sum = p.take(Dims2{rows, size}), bias = p.take(Dims2{2, size}),
             dbias = p.take(Dims2{2, size});
        kernels::sum_heads_forward(matrix(sum.first), matrix(y.first), bias.first, 0.5);
        reference::sum_heads_forward<double>(matrix(sum.second), matrix(y.second), bias.second,
                                             0.5);
        expect_near(sum, "sum");
        kernels::sum_heads_backward(matrix(y.first), dbias.first, matrix(sum.first), 0.5);
        reference::sum_heads_backward<double>(matrix(y.second), dbias.second, matrix(sum.second),
                                              0.5);
        expect_near(y, "sum, gradient");
        expect_near(dbias, "dbias accumulates");
      }
}

TEST(Kernels, AZeroHeadIsNormalisedToZero) {
  Pair p;
  auto x = p.take(Dims2{1, 4}), d = p.take(Dims2{1, 4});
  x.first.data[0] = x.first.data[1] = 0;
  auto inverse = p.take(Dims2{1, 2});
  kernels::normalize_heads_forward(matrix(x.first), inverse.first, 1.0);
  kernels::normalize_heads_backward(matrix(d.first), matrix(x.first), inverse.first, 1.0);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(x.first.data[i], 0.0f);
    EXPECT_EQ(d.first.data[i], 0.0f);
    EXPECT_NE(x.first.data[2 + i], 0.0f);
  }
}

TEST(Kernels, ActivationsLetNanThrough) {
  float x[3] = {std::numeric_limits<float>::quiet_NaN(), 1e30f, -1e30f}, y[3];
  kernels::activation_forward({y, {1, 3}}, View<const float, 2>(x, {1, 3}), Activation::kRelu);
  EXPECT_TRUE(std::isnan(y[0]));
  kernels::activation_forward({y, {1, 3}}, View<const float, 2>(x, {1, 3}), Activation::kGeluTanh);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 1e30f);
  EXPECT_EQ(y[2], 0.0f);
}

TEST(Kernels, ResidualAndPositionsFollowTheirTwins) {
  Pair p;
  auto [x, x2] = p.take(Dims3{4, 3, 5});
  auto [y, y2] = p.take(Dims3{4, 3, 5});
  auto z = p.take(Dims3{4, 3, 5});
  kernels::add_forward(as_rows(z.first), as_rows(View<const float, 3>(x)),
                       as_rows(View<const float, 3>(y)));
  reference::add_forward<double>(as_rows(z.second), as_rows(View<const double, 3>(x2)),
                                 as_rows(View<const double, 3>(y2)));
  expect_near(z, "sum");
  // Positions go to a range of the columns: 1 .. 3 here, of a table as wide.
  auto [table, table2] = p.take(Dims2{6, 3});
  kernels::add_positions_forward(Matrix<float>(as_rows(z.first)).col_range(1, 3), table, 3);
  reference::add_positions_forward<double>(Matrix<double>(as_rows(z.second)).col_range(1, 3),
                                           table2, 3);
  expect_near(z, "positions");
  auto dtable = p.take(Dims2{6, 3});
  kernels::add_positions_backward(
      dtable.first, Matrix<const float>(as_rows(View<const float, 3>(x))).col_range(1, 3), 3);
  reference::add_positions_backward<double>(
      dtable.second, Matrix<const double>(as_rows(View<const double, 3>(x2))).col_range(1, 3), 3);
  expect_near(dtable, "dpositions");
}

TEST(Kernels, SquaredLossByHand) {
  float out[2 * 4] = {1, 9, 2, 9, 3, 9, 4, 9}, target[2 * 2] = {0, 0, 1, 6}, d[8];
  const View<const float, 3> output(out, {2, 4, 1}), wanted(target, {2, 2, 1});
  const double loss = kernels::squared_loss({d, {2, 4, 1}}, output, wanted, {0, 2}, 0.25);
  EXPECT_DOUBLE_EQ(loss, (1 + 4 + 4 + 4) / 4.0);
  const float want[8] = {0.5f, 0, 1, 0, 1, 0, -1, 0};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(d[i], want[i]) << i;
  double d2[8];
  const double out2[8] = {1, 9, 2, 9, 3, 9, 4, 9};
  EXPECT_DOUBLE_EQ(
      reference::squared_loss<double>({d2, {2, 4, 1}}, View<const double, 3>(out2, {2, 4, 1}),
                                      wanted, {0, 2}, 0.25),
      loss);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(d2[i], static_cast<double>(want[i]));
}

TEST(Kernels, LossesAreReadFromTheFirstTokenOn) {
  float out[3] = {5, 7, 3}, target[1] = {1}, d[3];
  EXPECT_DOUBLE_EQ(
      kernels::squared_loss({d, {1, 3, 1}}, {out, {1, 3, 1}}, {target, {1, 1, 1}}, {2, 1}, 1), 4);
  EXPECT_EQ(d[0], 0);
  EXPECT_EQ(d[1], 0);
  EXPECT_EQ(d[2], 4);
}

// Against the definition, its twin, and logits at which exp overflows.
TEST(Kernels, LogisticLossByHand) {
  float out[6] = {0.5f, 9, -2, 9, 1e4f, 9}, target[3] = {1, 1, -1}, d[6];
  const View<const float, 3> output(out, {1, 6, 1}), wanted(target, {1, 3, 1});
  const double loss = kernels::logistic_loss({d, {1, 6, 1}}, output, wanted, {0, 2}, 0.5);
  EXPECT_NEAR(loss, 0.5 * (std::log1p(std::exp(-0.5)) + std::log1p(std::exp(2.0)) + 1e4), 1e-9);
  const double slope[3] = {-0.5 / (1 + std::exp(0.5)), -0.5 / (1 + std::exp(-2.0)), 0.5};
  for (std::size_t p = 0; p < 3; ++p) {
    EXPECT_NEAR(d[2 * p], slope[p], 1e-7);
    EXPECT_EQ(d[2 * p + 1], 0);
  }
  double d2[6];
  const double out2[6] = {0.5, 9, -2, 9, 1e4, 9};
  EXPECT_NEAR(reference::logistic_loss<double>(
                  {d2, {1, 6, 1}}, View<const double, 3>(out2, {1, 6, 1}), wanted, {0, 2}, 0.5),
              loss, 1e-9);
  for (std::size_t t = 0; t < 6; ++t) EXPECT_NEAR(d2[t], d[t], 1e-7);
  out[4] = -3e38f;
  const View<const float, 3> alone(target + 2, {1, 1, 1});
  EXPECT_EQ(kernels::logistic_loss({d, {1, 6, 1}}, output, alone, {4, 2}, 1), 0);
}

}  // namespace headroom::kernels_test
