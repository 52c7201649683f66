#include "core/parallel.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "core/expect_error.h"

namespace headroom::parallel_test {

TEST(Parallel, EveryTileOnceWithAnyNumberOfThreads) {
  for (const int n : {1, 2, 3, 8}) {
    set_threads(n);
    std::vector<int> hits(1001);
    parallel_for(hits.size(), [&](std::size_t i) { ++hits[i]; });
    for (int h : hits) ASSERT_EQ(h, 1);
    std::vector<std::size_t> rows(103);
    parallel_rows(rows.size(), 10, [&](std::size_t first, std::size_t count) {
      for (std::size_t i = first; i < first + count; ++i) rows[i] = count;
    });
    EXPECT_EQ(rows.front(), 10u);
    EXPECT_EQ(rows.back(), 3u);
  }
  set_threads(default_threads().threads);
}

TEST(Parallel, WorkersFlushDenormals) {
  set_threads(4);
  std::vector<float> results(64, 1.0f);
  volatile float tiny = 1e-38f;
  parallel_for(results.size(), [&](std::size_t i) { results[i] = tiny * 0.01f; });
  set_threads(default_threads().threads);
  for (float r : results) EXPECT_EQ(r, 0.0f);
}

TEST(Parallel, EnvironmentIsHonoured) {
  ::setenv("OMP_NUM_THREADS", "3,2", 1);
  EXPECT_EQ(default_threads().threads, 3);
  EXPECT_STREQ(default_threads().reason, "OMP_NUM_THREADS");
  for (const char* const wrong : {"none", "0", "-1", "2x", "3;2", "1e3"}) {
    ::setenv("OMP_NUM_THREADS", wrong, 1);
    expect_error([] { default_threads(); },
                 {"OMP_NUM_THREADS: expected a number of threads", wrong, "--threads"});
  }
  ::setenv("OMP_NUM_THREADS", "", 1);
  EXPECT_GE(default_threads().threads, 1);
  EXPECT_STRNE(default_threads().reason, "OMP_NUM_THREADS");
  ::unsetenv("OMP_NUM_THREADS");
}

}  // namespace headroom::parallel_test
