// `headroom selftest`: what it proves, and that it finds a difference.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "cli/run_binary.h"

namespace headroom::selftest_test {

namespace fs = std::filesystem;

constexpr const char* kConfig =
    R"({"task": {"type": "linear_regression", "dim": 3, "points": 4,
        "curriculum": {"points": {"start": 2, "end": 4, "step": 1, "every": 2000}}},
        "model": {"width": 8, "positions": {"type": "learned"}, "attention": {"mask": "causal"},
        "ffn": {"width": 8}}, "train": {"steps": 100000, "batch": 8, "accumulate": 2},
        "eval": {"every": 1000, "items": 1000, "patience": 3}})";

class SelftestCases : public testing::Test {
 protected:
  BinaryResult selftest(const std::string& what, std::vector<std::string> more = {}) const {
    std::vector<std::string> args{"selftest", what, folder_.put("config.json", kConfig)};
    args.insert(args.end(), more.begin(), more.end());
    BinaryOptions options;
    options.environment = {"TMPDIR=" + temporary().string()};
    return run_binary(args, options);
  }
  fs::path temporary() const {
    fs::create_directories(folder_.path() / "tmp");
    return folder_.path() / "tmp";
  }
  static std::ptrdiff_t count(const std::string& text, const std::string& part) {
    std::ptrdiff_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      ++n;
    }
    return n;
  }

  ScratchFolder folder_{"selftest ü", ::access("/dev/shm", W_OK) == 0
                                          ? fs::path("/dev/shm")
                                          : fs::path(testing::TempDir())};
};

TEST_F(SelftestCases, ResumeAndThreadsChangeNothing) {
  const BinaryResult resume = selftest("resume");
  EXPECT_EQ(resume.exit_code, 0) << resume.err;
  EXPECT_EQ(count(resume.out, "files equal"), 6) << resume.out;
  for (const char* part : {"stopped after step 1 and resumed: 9 files", "killed after step 5"}) {
    EXPECT_NE(resume.out.find(part), std::string::npos) << resume.out;
  }
  const BinaryResult threads = selftest("threads");
  EXPECT_EQ(threads.exit_code, 0) << threads.err;
  EXPECT_EQ(count(threads.out, "files equal"), 3) << threads.out;
  EXPECT_NE(threads.out.find("8 threads against 1: "), std::string::npos) << threads.out;
  const BinaryResult quiet = selftest("resume", {"--quiet", "--set", "train.optimizer.type=sgd"});
  EXPECT_EQ(quiet.exit_code, 0) << quiet.err;
  EXPECT_EQ(quiet.out + quiet.err, "");
  EXPECT_TRUE(fs::is_empty(temporary()));
}

TEST_F(SelftestCases, UnknownTestsAndConfigsAreRefused) {
  expect_refused(selftest("resumes"), 2, {"resumes", "did you mean 'resume'"});
  expect_refused(selftest("resume", {"--set", "train.batch=7"}), 2, {"train.accumulate"});
  EXPECT_TRUE(fs::is_empty(temporary()));
}

// Somebody changes a row of the finished run that the others are compared with.
TEST_F(SelftestCases, ADifferenceIsExit6WithFileAndRow) {
  BinaryResult result;
  for (int i = 0; i < 5 && result.exit_code != 6; ++i) {  // on a busy machine it may be too late
    std::atomic<bool> over = false;
    std::thread somebody([&] {
      while (!over) {
        std::error_code gone;
        for (fs::directory_iterator at(temporary(), gone), end; !gone && at != end;
             at.increment(gone)) {
          if (!fs::exists(at->path() / "run", gone)) continue;
          std::ofstream(at->path() / "whole/train.csv", std::ios::app) << "7,0.5\n";
          return;
        }
        std::this_thread::yield();
      }
    });
    result = selftest("resume");
    over = true;
    somebody.join();
  }
  EXPECT_EQ(result.exit_code, 6) << result.out << result.err;
  EXPECT_NE(result.out.find("DIFFERENT, train.csv: row 4: '7,0.5' and none"), std::string::npos)
      << result.out;
}

}  // namespace headroom::selftest_test
