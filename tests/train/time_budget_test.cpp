#include "train/time_budget.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <ctime>

#include "core/error.h"
#include "loop_fixture.h"
#include "train/checkpoint_folder.h"
#include "train/compare_runs.h"

namespace headroom::time_budget_test {

using TimeBudgetTest = LoopTest;

TEST(ReadDuration, TakesWhatPeopleWrite) {
  const std::vector<std::pair<std::string, double>> good{
      {"2h", 7200},   {"90m", 5400},  {"45s", 45},    {"1h30m", 5400}, {"1h0m5s", 3605},
      {"1.5h", 5400}, {"3600", 3600}, {"0.25", 0.25}, {"2m30s", 150},  {"1h1s", 3601}};
  for (const auto& [text, seconds] : good) EXPECT_DOUBLE_EQ(read_duration_s(text), seconds) << text;
  for (const char* bad : {"", "h", "2d", "-5", "-1h", "0", "0s", "1h30", "30m1h", "1h1h", "1e3",
                          "inf", "nan", "2 h", "1h-3m", "999999999h", "soon", "+5", "5,5"}) {
    try {
      read_duration_s(bad);
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Exit::kUsage);
      EXPECT_NE(std::string(error.what()).find("--time-budget"), std::string::npos);
    }
  }
}

TEST(Scheduler, SecondsLeftAreThoseOfSlurm) {
  ::unsetenv("SLURM_JOB_END_TIME");
  EXPECT_FALSE(scheduler_seconds_left());
  ::setenv("SLURM_JOB_END_TIME", "soon", 1);
  EXPECT_FALSE(scheduler_seconds_left());
  ::setenv("SLURM_JOB_END_TIME", "1000", 1);
  EXPECT_EQ(scheduler_seconds_left(), 0.0);
  ::setenv("SLURM_JOB_END_TIME", std::to_string(::time(nullptr) + 3600).c_str(), 1);
  EXPECT_NEAR(scheduler_seconds_left().value(), 3600, 30);
  ::unsetenv("SLURM_JOB_END_TIME");
}

TEST_F(TimeBudgetTest, LeavesTimeForAStepAndACheckpoint) {
  const auto now = TimeBudget::Clock::now();
  {
    TimeBudget budget(now, 1000, 0);
    EXPECT_FALSE(budget.over());
    budget.took_step(100);
    budget.took_step(1);
    budget.took_checkpoint(500);
    EXPECT_FALSE(budget.over());  // 1000 - 1.5 * (500 + 100) - 0.1
    budget.took_checkpoint(570);
    EXPECT_TRUE(budget.over());
  }
  EXPECT_FALSE(stop_requested());
  TimeBudget none(now - std::chrono::hours(1), std::nullopt, 1);
  none.took_checkpoint(1);
  EXPECT_FALSE(none.over());
}

// Whatever it is that takes so long: the run ends in time, and goes on to the same files.
TEST_F(TimeBudgetTest, EndsARunInTimeAndResumeGoesOn) {
  struct Case {
    const char* name;
    std::uint64_t steps;
    std::size_t items;
  };
  for (const Case& c : {Case{"steps", 100'000'000, 50}, Case{"evaluation", 7, 100'000'000}}) {
    TrainJob job = small_job(folder / c.name);
    job.train.steps = c.steps;
    job.train.schedule = {.type = ScheduleType::kConstant, .warmup = 0, .floor = 0, .steps = {}};
    job.eval.items = c.items;
    job.eval.every = 1'000'000;
    job.run.log_every = job.run.checkpoint_every = 1'000'000;
    job.time_budget_s = 0.6;
    const auto begin = std::chrono::steady_clock::now();
    const TrainResult result = train(job);
    const double took =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    EXPECT_EQ(result.exit, Exit::kStopped) << c.name;
    EXPECT_EQ(result.reason, "time budget") << c.name;
    EXPECT_LT(took, 0.6 + 2) << c.name;
    EXPECT_EQ(CheckpointFolder(job.out / "checkpoints", 1).steps().back(), result.steps);
    EXPECT_FALSE(stop_requested());
  }
  TrainJob job = small_job(folder / "whole");
  train(job);
  job.out = folder / "run";
  job.time_budget_s = 1e-3;
  EXPECT_EQ(train(job).exit, Exit::kStopped);
  EXPECT_NE(content_of(job.out / "log.txt").find("before a step"), std::string::npos);
  job.time_budget_s = 3600;
  job.resume = {.steps = 7, .log_every = 2};
  EXPECT_EQ(train(job).exit, Exit::kDone);
  EXPECT_EQ(compare_runs(folder / "whole", job.out).difference, "");
}

}  // namespace headroom::time_budget_test
