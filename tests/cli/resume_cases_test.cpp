// Resuming through the real binary: kills at any moment, one command that starts and continues, who
// may continue what.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "cli/run_binary.h"
#include "train/compare_runs.h"

namespace headroom::resume_cases_test {

namespace fs = std::filesystem;

constexpr const char* kConfig =
    R"({"name": "tiny", "task": {"type": "linear_regression", "dim": 3, "points": 4,
        "curriculum": {"points": {"start": 2, "end": 4, "step": 1, "every": 40}}},
        "model": {"width": 8, "positions": {"type": "learned"}, "attention": {"mask": "causal"},
        "ffn": {"width": 8}}, "train": {"steps": 150, "batch": 8}, "eval": {"every": 20, "items": 32},
        "run": {"log_every": 2, "checkpoint_every": 7}})";

class ResumeCases : public testing::Test {
 protected:
  void SetUp() override { folder_.put("config.json", kConfig); }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::vector<std::string> words(const std::string& out, std::vector<std::string> more = {}) const {
    std::vector<std::string> args{"train",   path("config.json"), "--out",
                                  path(out), "--threads",         "1"};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
  BinaryResult train(const std::string& out, std::vector<std::string> more = {}) const {
    return run_binary(words(out, std::move(more)));
  }
  bool appears(const std::string& name) const {
    for (int i = 0; i < 3000 && !fs::exists(path(name)); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return fs::exists(path(name));
  }

  // In memory where there is such a folder: many small runs, whose files are all synced.
  ScratchFolder folder_{"resume cases ü", ::access("/dev/shm", W_OK) == 0
                                              ? fs::path("/dev/shm")
                                              : fs::path(testing::TempDir())};
};

TEST_F(ResumeCases, KilledAtAnyMomentItEndsInTheSameFiles) {
  const std::vector<std::string> quietly{"--quiet", "--set", "train.steps=400"};
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(train("whole", quietly).exit_code, 0);
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - begin);
  // Kills at a tenth to a third of a run's time, in a fixed order that is no pattern: the first
  // ones find it starting or at its first steps, the later ones further on.
  std::vector<std::string> args = quietly;
  args.emplace_back("--resume=auto");
  for (unsigned i = 0; i < 10; ++i) {
    const pid_t child = start_binary(words("run", args));
    std::this_thread::sleep_for(whole / 10 + whole * ((i * 7 + 3) % 10) / 40);
    ::kill(child, SIGKILL);
    wait_for(child);
  }
  const BinaryResult last = train("run", args);
  EXPECT_EQ(last.exit_code, 0) << last.err;
  const RunComparison compared = compare_runs(path("whole"), path("run"));
  EXPECT_EQ(compared.difference, "");
  EXPECT_GE(compared.files, 9u);
  for (const auto& entry : fs::recursive_directory_iterator(path("run"))) {
    EXPECT_EQ(entry.path().string().find(".tmp-"), std::string::npos) << entry.path();
  }
  const BinaryResult again = train("run", {"--resume=auto", "--set", "train.steps=400"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_NE(again.err.find("has finished (done) after 400 steps"), std::string::npos) << again.err;
}

TEST_F(ResumeCases, ASignalAndThenResume) {
  const std::vector<std::string> longer{"--quiet", "--set", "train.steps=600"};
  ASSERT_EQ(train("whole", longer).exit_code, 0);
  // On a busy machine the run may be over before the signal is sent: then once more.
  std::string run;
  int code = 0;
  for (int i = 0; i < 5 && code == 0; ++i) {
    run = "run" + std::to_string(i);
    const pid_t child = start_binary(words(run, longer));
    ASSERT_TRUE(appears(run + "/baselines.csv"));
    ::kill(child, SIGTERM);
    code = wait_for(child);
  }
  EXPECT_EQ(code, 75);
  const BinaryResult r = train(run, {"--resume", "--set", "train.steps=600", "--threads", "2"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_NE(r.err.find("resumed after step"), std::string::npos) << r.err;
  EXPECT_EQ(compare_runs(path("whole"), path(run)).difference, "");
}

TEST_F(ResumeCases, WhereThereIsNothingToResume) {
  expect_refused(train("absent", {"--resume"}), 3, {"absent", "no run to resume", "--resume=auto"});
  EXPECT_FALSE(fs::exists(path("absent")));
  fs::create_directory(path("other"));
  folder_.put("other/file", "mine");
  for (const char* how : {"--resume", "--resume=auto"}) {
    expect_refused(train("other", {how}), 3, {"other", "config.json"});
  }
  expect_refused(train("absent", {"--resume", "--force"}), 2, {"--resume", "--force"});
  expect_refused(train("absent", {"--resume=yess"}), 2, {"--resume=auto", "yess"});
  // The default directory, and one that exists and is empty.
  BinaryOptions here;
  here.folder = folder_.path();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run_binary({"train", "config.json", "--quiet", "--resume=auto"}, here).exit_code, 0);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(path("runs")), fs::directory_iterator()), 1);
  fs::create_directory(path("empty"));
  EXPECT_EQ(train("empty", {"--quiet", "--resume=auto", "--set", "train.steps=1"}).exit_code, 0);
}

TEST_F(ResumeCases, AnotherConfigIsRefusedWithTheKeysThatDiffer) {
  ASSERT_EQ(train("run", {"--quiet", "--set", "train.steps=6"}).exit_code, 0);
  const std::string before = folder_.read("run/run.json");
  const auto with = [&](std::vector<std::string> sets) {
    std::vector<std::string> more{"--resume"};
    for (const std::string& item : sets) more.insert(more.end(), {"--set", item});
    return train("run", more);
  };
  expect_refused(with({"train.steps=6", "model.attention.heads=2", "train.optimizer.lr=0.5"}), 2,
                 {"run", "model.attention.heads (1 there, 2 here)", "train.optimizer.lr"});
  expect_refused(with({"train.steps=6", "seed=3"}), 2, {"seed (0 there, 3 here)", "seeds.data"});
  expect_refused(with({"train.steps=5"}), 2, {"train.steps (6 there, 5 here)"});
  expect_refused(with({"train.steps=9"}), 2, {"train.steps", "train.schedule.steps=6"});
  EXPECT_EQ(folder_.read("run/run.json"), before);
  // The same values by other words, other options of the run, and steps beyond the horizon.
  EXPECT_EQ(with({"train.steps=6", "seeds.init=0", "run.keep=5"}).exit_code, 0);
  const BinaryResult more = with({"train.steps=9", "train.schedule.steps=6", "run.log_every=3"});
  EXPECT_EQ(more.exit_code, 0) << more.err;
  EXPECT_NE(folder_.read("run/config.json").find("\"steps\": 9"), std::string::npos);
  EXPECT_NE(folder_.read("run/train.csv").find("\n9,"), std::string::npos);
  // The new config is the run's from now on.
  expect_refused(with({"train.steps=6"}), 2, {"train.steps (9 there, 6 here)"});
}

TEST_F(ResumeCases, ALongerConstantScheduleMustKeepItsWarmUp) {
  const std::vector<std::string> constant{"--quiet", "--set", "train.schedule.type=constant"};
  const auto run = [&](const std::string& out, std::vector<std::string> more) {
    more.insert(more.end(), constant.begin(), constant.end());
    return train(out, more);
  };
  const std::string warmup = "train.schedule.warmup=2";
  ASSERT_EQ(run("whole", {"--set", "train.steps=80", "--set", warmup}).exit_code, 0);
  ASSERT_EQ(run("run", {"--set", "train.steps=40"}).exit_code, 0);  // 0.05 of 40 are 2 updates
  expect_refused(run("run", {"--set", "train.steps=80", "--resume"}), 2,
                 {"train.steps", "train.schedule.warmup=2"});
  EXPECT_EQ(run("run", {"--set", "train.steps=80", "--set", warmup, "--resume"}).exit_code, 0);
  for (const char* name : {"eval.csv", "eval_positions.csv", "config.json"}) {
    EXPECT_EQ(folder_.read(std::string("whole/") + name), folder_.read(std::string("run/") + name));
  }
}

TEST_F(ResumeCases, DamageIsSteppedOverOrNamed) {
  ASSERT_EQ(train("run", {"--quiet", "--set", "train.steps=20"}).exit_code, 0);
  fs::resize_file(path("run/checkpoints/step-000000020.safetensors"), 1000);
  folder_.put("run/run.json", "{}");
  const BinaryResult r = train("run", {"--resume", "--set", "train.steps=20"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_NE(r.err.find("warning: "), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("step-000000020.safetensors"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("resumed after step 14"), std::string::npos) << r.err;
  for (const auto& entry : fs::directory_iterator(path("run/checkpoints"))) {
    if (entry.is_regular_file() && !entry.is_symlink()) fs::resize_file(entry.path(), 99);
  }
  expect_refused(train("run", {"--resume", "--set", "train.steps=20"}), 5, {"step-", "--force"});
}

TEST_F(ResumeCases, ALiveRunIsNotJoined) {
  const std::vector<std::string> forever{"--quiet", "--set", "train.steps=100000000", "--set",
                                         "eval.every=100000000"};
  const pid_t child = start_binary(words("run", forever));
  ASSERT_TRUE(appears("run/baselines.csv"));
  for (const char* how : {"--resume", "--resume=auto", "--force"}) {
    std::vector<std::string> more = forever;
    more.emplace_back(how);
    expect_refused(train("run", more), 2, {"another process (process " + std::to_string(child)});
  }
  EXPECT_FALSE(fs::exists(path("run.old-1")));
  ::kill(child, SIGKILL);
  wait_for(child);
  // The kernel has released the lock.
  const pid_t next = start_binary(words("run", {"--quiet", "--set", "train.steps=100000000",
                                                "--set", "eval.every=100000000", "--resume"}));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ::kill(next, SIGINT);
  const int code = wait_for(next);
  EXPECT_TRUE(code == 130 || code == -1) << code;  // -1: before the handlers stood
}

TEST_F(ResumeCases, ATimeBudgetEndsInTimeAndResumeGoesOn) {
  const std::vector<std::string> sets{"--set", "train.steps=100000000",
                                      "--set", "eval.every=100000000",
                                      "--set", "train.schedule.type=constant"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), sets.begin(), sets.end());
    return more;
  };
  const auto begin = std::chrono::steady_clock::now();
  const BinaryResult r = train("run", with({"--time-budget", "1s"}));
  const double took =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_EQ(r.exit_code, 75) << r.err;
  EXPECT_LT(took, 3) << r.err;
  EXPECT_NE(r.err.find("time budget after"), std::string::npos) << r.err;
  EXPECT_NE(folder_.read("run/run.json").find("\"exit_reason\": \"time budget\""),
            std::string::npos);
  BinaryOptions slurm;
  slurm.environment = {"SLURM_JOB_END_TIME=" + std::to_string(::time(nullptr) + 2)};
  const BinaryResult again =
      run_binary(words("run", with({"--resume", "--time-budget=auto"})), slurm);
  EXPECT_EQ(again.exit_code, 75) << again.err;
  EXPECT_NE(again.err.find("resumed after step"), std::string::npos) << again.err;
  const BinaryResult none = train("short", {"--set", "train.steps=1", "--time-budget", "auto"});
  EXPECT_EQ(none.exit_code, 0) << none.err;
  EXPECT_NE(none.err.find("no time budget: SLURM_JOB_END_TIME is not set"), std::string::npos);
  expect_refused(train("bad", {"--time-budget", "soon"}), 2, {"--time-budget", "soon", "1h30m"});
  EXPECT_FALSE(fs::exists(path("bad")));
}

}  // namespace headroom::resume_cases_test
