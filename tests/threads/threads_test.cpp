// What several threads do at once, for ThreadSanitizer to watch.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/parallel.h"
#include "train/log.h"

namespace headroom::threads_test {

// A run's log from two threads: the sinks hold back a line until the one before is out.
TEST(Threads, LinesOfTwoLogsStayWhole) {
  std::string folder =
      (std::filesystem::temp_directory_path() / "headroom-threads-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  constexpr int kLines = 300;
  const auto write = [&](const std::string& name) {
    Log log(true, false);
    log.open(folder + "/" + name);
    for (int i = 0; i < kLines; ++i) log.info(name + " line");
  };
  std::thread other(write, "a");
  write("b");
  other.join();
  for (const std::string name : {"a", "b"}) {
    std::ifstream file(folder + "/" + name);
    int n = 0;
    for (std::string line; std::getline(file, line); ++n)
      EXPECT_TRUE(line.ends_with(name + " line"));
    EXPECT_EQ(n, kLines);
  }
  std::filesystem::remove_all(folder);
}

// As training has it: a loop on all threads, a line on one, the next loop reading what the last one
// wrote.
TEST(Threads, LoopsSeeWhatTheLoopBeforeWrote) {
  set_threads(4);
  Log log(true, false);
  std::vector<double> now(64, 1), next(64);
  for (int round = 0; round < 200; ++round) {
    parallel_for(now.size(), [&](std::size_t i) { next[i] = now[i] + now[(i + 1) % now.size()]; });
    std::swap(now, next);
    for (double& x : now) x /= 2;
    log.file_only("round " + std::to_string(round) + ": " + std::to_string(now[0]));
  }
  set_threads(default_threads().threads);
  for (const double x : now) EXPECT_EQ(x, 1);
}

// The sanitizer sees a race where there is one: else the tests above would say nothing.
TEST(ThreadsDeathTest, ARaceIsFound) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(
      {
        set_threads(4);
        long sum = 0;
        for (int round = 0; round < 100; ++round)
          parallel_for(10'000, [&](std::size_t i) { sum += static_cast<long>(i); });
        std::_Exit(sum == 0 ? 1 : 0);
      },
      "data race");
}

}  // namespace headroom::threads_test
