// What the tests of fused layers share: draws, the comparison with the parts in double, and the
// promise about threads.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.h"
#include "core/rng.h"
#include "core/view.h"

namespace headroom {

// The same normal numbers for float and double, by stream.
template <class S>
void fill_normal(View<S, 2> v, std::uint64_t stream) {
  std::vector<float> draws(v.size());
  Random(3, Purpose::kTest, 1, stream).fill_normal(draws);
  std::copy(draws.begin(), draws.end(), v.data);
}

// Each result within 1e-5 of the largest number of its twin.
inline void expect_near(const std::vector<View<float, 2>>& got,
                        const std::vector<View<double, 2>>& want) {
  for (std::size_t r = 0; r < got.size(); ++r) {
    double largest = 1;
    for (const double v : want[r].flat()) largest = std::max(largest, std::abs(v));
    for (std::size_t i = 0; i < want[r].size(); ++i)
      ASSERT_NEAR(static_cast<double>(got[r].data[i]), want[r].data[i], 1e-5 * largest)
          << "result " << r << " at " << i;
  }
}

// run() computes from scratch and gives what must not depend on the number of threads.
template <class Run>
void expect_same_bits_with_any_threads(const Run& run) {
  const int before = threads();
  std::vector<std::vector<float>> first;
  for (const int n : {1, 2, 3, 8}) {
    set_threads(n);
    const std::vector<std::vector<float>> now = run();
    if (n == 1) first = now;
    EXPECT_TRUE(now == first) << n << " threads";
  }
  set_threads(before);
}

inline std::vector<std::vector<float>> copies(const std::vector<View<float, 2>>& views) {
  std::vector<std::vector<float>> all;
  for (const View<float, 2>& v : views) all.emplace_back(v.flat().begin(), v.flat().end());
  return all;
}

}  // namespace headroom
