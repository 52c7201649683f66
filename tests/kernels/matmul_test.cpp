// Products of every transposition, at sizes on both sides of where the own kernel gives way to the
// library's, against plain sums in double.
#include "kernels/matmul.h"

#include <gtest/gtest.h>

#include <string>

#include "products.h"

namespace headroom::matmul_test {

struct Sizes {
  std::size_t m, n, k;
};

class Products : public ::testing::TestWithParam<Sizes> {};

TEST_P(Products, FollowPlainSums) {
  const auto [m, n, k] = GetParam();
  expect_products(m, n, k, [](float x) { return x; });
}

std::string name(const ::testing::TestParamInfo<Sizes>& test) {
  return std::to_string(test.param.m) + "x" + std::to_string(test.param.n) + "x" +
         std::to_string(test.param.k);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Products,
                         ::testing::Values(Sizes{1, 1, 1}, Sizes{3, 5, 0}, Sizes{2, 3, 5},
                                           Sizes{7, 8, 1}, Sizes{13, 16, 16}, Sizes{25, 17, 9},
                                           Sizes{6, 31, 64}, Sizes{11, 33, 255}, Sizes{5, 64, 256},
                                           Sizes{4, 65, 256}, Sizes{3, 64, 257}, Sizes{70, 70, 70}),
                         name);

}  // namespace headroom::matmul_test
