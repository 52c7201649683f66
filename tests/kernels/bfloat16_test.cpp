// bfloat16: the rounding bit by bit, and products whose operands are rounded against plain sums.
#include "kernels/bfloat16.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/matmul.h"
#include "kernels/tile_matmul.h"
#include "products.h"

namespace headroom::bfloat16_test {

using kernels::from_bfloat16;
using kernels::Operands;
using kernels::to_bfloat16;
using kernels::Transpose;

TEST(Bfloat16, RoundsToNearestAndTiesToEven) {
  const float ulp = std::ldexp(1.0f, -7);
  EXPECT_EQ(to_bfloat16(1), 0x3f80);
  EXPECT_EQ(to_bfloat16(-0.0f), 0x8000);
  EXPECT_EQ(to_bfloat16(1 + ulp / 2), 0x3f80);
  EXPECT_EQ(to_bfloat16(1 + ulp * 1.5f), 0x3f82);
  EXPECT_EQ(to_bfloat16(std::nextafter(1 + ulp / 2, 2.0f)), 0x3f81);
  EXPECT_EQ(to_bfloat16(std::nextafter(1 + ulp * 1.5f, 0.0f)), 0x3f81);
  EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::max()), 0x7f80);  // infinity is nearer
  EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(to_bfloat16(-std::numeric_limits<float>::infinity()), 0xff80);
  // Its fraction is all in the bits that go.
  EXPECT_TRUE(std::isnan(from_bfloat16(to_bfloat16(std::bit_cast<float>(0x7f800001u)))));
}

TEST(Bfloat16, EveryValueStays) {
  for (std::uint32_t bits = 0; bits < 1u << 16; ++bits) {
    const float value = from_bfloat16(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(to_bfloat16(value), bits);
  }
}

// Both sides of where the library's product takes over, and with parts of blocks on every side.
void expect_products_of_rounded_operands(Operands operands) {
  const OperandsScope scope(operands);
  const auto rounded = [](float x) { return from_bfloat16(to_bfloat16(x)); };
  expect_products(5, 16, 7, rounded);
  expect_products(9, 64, 256, rounded);
  expect_products(33, 70, 300, rounded);
  expect_products(64, 32, 65, rounded);
  expect_products(257, 259, 513, rounded);
  EXPECT_NO_THROW(kernels::require_products());
}

TEST(Bfloat16, ProductsTakeRoundedOperands) {
  expect_products_of_rounded_operands(Operands::kRoundedToBfloat16);
}

// oneDNN multiplies bfloat16 on every CPU with AVX-512, if slowly where it lacks the instructions.
TEST(Bfloat16, TheLibraryMultipliesRoundedOperands) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx512bw")) GTEST_SKIP() << "oneDNN's bfloat16 needs AVX-512";
#else
  GTEST_SKIP() << "oneDNN's bfloat16 needs AVX-512";
#endif
  const std::size_t before = kernels::primitives_made();
  expect_products_of_rounded_operands(Operands::kBfloat16);
  EXPECT_GT(kernels::primitives_made(), before);
  const std::size_t made = kernels::primitives_made();
  expect_products_of_rounded_operands(Operands::kBfloat16);
  EXPECT_EQ(kernels::primitives_made(), made) << "kept from the first time";
}

TEST(Bfloat16, TilesMultiplyRoundedOperands) {
  if (!kernels::has_tiles()) GTEST_SKIP() << "needs AMX";
  expect_products_of_rounded_operands(Operands::kBfloat16Tiles);
}

TEST(Bfloat16, TilesAreTakenWhereTheyAre) {
  EXPECT_EQ(kernels::bfloat16_operands(),
            kernels::has_tiles() ? Operands::kBfloat16Tiles : Operands::kBfloat16);
}

TEST(Bfloat16, DataAndProductsOfWeightsStayFloat32) {
  const OperandsScope scope(Operands::kRoundedToBfloat16);
  const float a = 1.001f, b = 1.002f;
  float c = 0, rounded = 0;
  kernels::matmul_float32({&c, 1, 1, 1}, {&a, 1, 1, 1}, Transpose::kNo, {&b, 1, 1, 1},
                          Transpose::kNo, 1, 0);
  EXPECT_EQ(c, a * b);
  kernels::matmul({&rounded, 1, 1, 1}, {&a, 1, 1, 1}, Transpose::kNo, {&b, 1, 1, 1}, Transpose::kNo,
                  1, 0);
  EXPECT_EQ(rounded, 1);
}

}  // namespace headroom::bfloat16_test
