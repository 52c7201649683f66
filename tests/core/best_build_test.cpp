// Which build of a portable program goes on: a probe with scripts in the place of its other builds.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace headroom::best_build_test {

namespace fs = std::filesystem;

struct Ran {
  int code;
  std::string out;
};

class BestBuild : public ::testing::Test {
 protected:
  BestBuild() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::copy_file(HEADROOM_PROBE, folder_ / "probe");
    for (const std::string arch : {"x86-64-v3", "x86-64-v4"}) {
      const fs::path file = folder_ / ("probe." + arch);
      std::ofstream(file) << "#!/bin/sh\necho " << arch << " $1\n";
      fs::permissions(file, fs::perms::owner_all);
    }
  }
  ~BestBuild() override { fs::remove_all(folder_); }

  Ran run(const std::string& environment) const {
    const std::string command = environment + " '" + (folder_ / "probe").string() + "' argument";
    FILE* pipe = ::popen(command.c_str(), "r");
    Ran ran{-1, ""};
    std::array<char, 256> buffer{};
    while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) ran.out += buffer.data();
    ran.code = WEXITSTATUS(::pclose(pipe));
    return ran;
  }

  const fs::path folder_ = fs::path(::testing::TempDir()) / "headroom_best_build_test";
  const bool v3_ = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
             v4_ = v3_ && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
};

TEST_F(BestBuild, IsTheBestThatThisCpuRuns) {
  const Ran ran = run("");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, v4_ ? "x86-64-v4 argument\n" : v3_ ? "x86-64-v3 argument\n" : "this one\n");
}

TEST_F(BestBuild, IsTheOneThatIsNamed) {
  EXPECT_EQ(run("HEADROOM_ARCH=x86-64").out, "this one\n");
  const Ran v3 = run("HEADROOM_ARCH=x86-64-v3"), v4 = run("HEADROOM_ARCH=x86-64-v4");
  EXPECT_EQ(v3.code, v3_ ? 0 : 2);
  EXPECT_EQ(v3.out,
            v3_ ? "x86-64-v3 argument\n" : "HEADROOM_ARCH: this CPU does not run x86-64-v3\n");
  EXPECT_EQ(v4.code, v4_ ? 0 : 2);
  EXPECT_EQ(v4.out,
            v4_ ? "x86-64-v4 argument\n" : "HEADROOM_ARCH: this CPU does not run x86-64-v4\n");
  const Ran unknown = run("HEADROOM_ARCH=zen");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.out, "HEADROOM_ARCH: 'zen' is none of x86-64, x86-64-v3, x86-64-v4\n");
}

TEST_F(BestBuild, SaysWhichIsNotThere) {
  if (!v3_) GTEST_SKIP() << "this CPU runs the build for any x86-64 alone";
  fs::remove(folder_ / "probe.x86-64-v3");
  const Ran ran = run("HEADROOM_ARCH=x86-64-v3");
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.out.find((folder_ / "probe.x86-64-v3: ").string()), 0u) << ran.out;
  EXPECT_NE(ran.out.find("No such file"), std::string::npos) << ran.out;
}

}  // namespace headroom::best_build_test
