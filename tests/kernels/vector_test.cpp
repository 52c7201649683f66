// The vector functions against the C library and their own behaviour at the edges.
#include "kernels/vector.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/parallel.h"

namespace headroom::kernels {
namespace {

float exp1(float x) { return exp(broadcast(x))[0]; }

double ulps(float got, double want) {
  const float rounded = static_cast<float>(want);
  const float next = std::nextafter(rounded, std::numeric_limits<float>::infinity());
  return std::abs(static_cast<double>(got) - want) /
         (static_cast<double>(next) - static_cast<double>(rounded));
}

TEST(VectorExp, IsWithinTwoUlp) {
  double worst = 0;
  for (int i = -870000; i <= 887000; ++i) {
    const float x = static_cast<float>(i) * 1e-4f;
    worst = std::max(worst, ulps(exp1(x), std::exp(static_cast<double>(x))));
  }
  EXPECT_LE(worst, 2.0);
}

TEST(VectorExp, Edges) {
  flush_denormals();
  EXPECT_EQ(exp1(0.0f), 1.0f);
  EXPECT_EQ(exp1(-0.0f), 1.0f);
  EXPECT_EQ(exp1(1e-40f), 1.0f);  // a denormal
  EXPECT_EQ(exp1(-100.0f), 0.0f);
  EXPECT_EQ(exp1(100.0f), std::numeric_limits<float>::infinity());
  EXPECT_EQ(exp1(-1e30f), 0.0f);
  EXPECT_EQ(exp1(1e30f), std::numeric_limits<float>::infinity());
  EXPECT_EQ(exp1(-std::numeric_limits<float>::infinity()), 0.0f);
  EXPECT_TRUE(std::isnan(exp1(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_LE(ulps(exp1(88.0f), std::exp(88.0)), 2.0);
  EXPECT_LE(ulps(exp1(-87.0f), std::exp(-87.0)), 2.0);
}

TEST(VectorExp, NonpositiveIsTheSame) {
  flush_denormals();
  const auto same = [](float x) {
    const float a = exp1(x), b = exp_nonpositive(broadcast(x))[0];
    EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << x << ": " << a << " and " << b;
  };
  for (int i = 0; i <= 900000; ++i) same(static_cast<float>(i) * -1e-4f);
  for (const float x : {-0.0f, -1e-40f, -1e30f, -std::numeric_limits<float>::infinity(),
                        std::numeric_limits<float>::quiet_NaN()})
    same(x);
}

TEST(VectorExp, EveryLaneAlike) {
  for (const float x : {0.0f, -88.0f, 88.0f, 3.7f, -1e30f, 1e-40f}) {
    const Vec all = exp(broadcast(x));
    for (std::size_t l = 0; l < kLanes; ++l) EXPECT_EQ(all[l], exp1(x));
  }
}

TEST(VectorErfc, IsAccurate) {
  for (int i = 0; i <= 9000; ++i) {
    const float x = static_cast<float>(i) * 1e-3f;
    const double want = std::exp(static_cast<double>(x) * static_cast<double>(x)) *
                        std::erfc(static_cast<double>(x));
    EXPECT_NEAR(scaled_erfc(broadcast(x))[0] / want, 1, 4e-7) << x;
  }
}

TEST(VectorTanh, IsAccurate) {
  for (int i = -12000; i <= 12000; ++i) {
    const float x = static_cast<float>(i) * 1e-3f;
    EXPECT_NEAR(tanh(broadcast(x))[0], std::tanh(x), 3e-7f) << x;
  }
  EXPECT_EQ(tanh(broadcast(1e30f))[0], 1.0f);
  EXPECT_EQ(tanh(broadcast(-1e30f))[0], -1.0f);
}

TEST(VectorSums, EveryLength) {
  for (std::size_t n = 0; n <= 67; ++n) {
    std::vector<float> a(n), b(n);
    double expected_sum = 0, expected_dot = 0;
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = static_cast<float>(i % 7) - 2.5f;
      b[i] = static_cast<float>(i % 5) + 0.25f;
      expected_sum += static_cast<double>(a[i]);
      expected_dot += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    }
    EXPECT_FLOAT_EQ(sum(a.data(), n), static_cast<float>(expected_sum)) << n;
    EXPECT_FLOAT_EQ(dot(a.data(), b.data(), n), static_cast<float>(expected_dot)) << n;
  }
}

}  // namespace
}  // namespace headroom::kernels
