#include "train/progress.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "temporary_folder.h"
#include "train/log.h"
#include "train/metrics.h"
#include "train/signals.h"

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <string>

namespace headroom::progress_test {

std::size_t visible(const std::string& line) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\033') {
      i = line.find('m', i);
    } else {
      ++n;
    }
  }
  return n;
}

TEST(Progress, FitsEveryWidth) {
  const ProgressView view{
      .step = 1200, .steps = 2000, .loss = 0.0812, .held_out = 0.07951, .steps_per_s = 412};
  for (int columns = 0; columns < 200; ++columns) {
    for (const bool color : {false, true}) {
      EXPECT_LE(visible(progress_line(view, columns, color)),
                static_cast<std::size_t>(std::max(0, columns - 1)));
    }
  }
  const std::string line = progress_line(view, 100, false);
  for (const char* part :
       {"1200/2000", "loss 0.0812", "2 s left", "412 steps/s", "[====", "held-out 0.0795"}) {
    EXPECT_NE(line.find(part), std::string::npos) << part << " in " << line;
  }
  EXPECT_EQ(line.find('\033'), std::string::npos);
  EXPECT_NE(progress_line(view, 100, true).find('\033'), std::string::npos);
}

TEST(Progress, PlainLine) {
  EXPECT_EQ(
      plain_line(
          {.step = 1200, .steps = 2000, .loss = 0.0812, .held_out = 0.0795, .steps_per_s = 412}),
      "step 1200/2000 (60 %), loss 0.0812, held-out 0.0795, 412 steps/s, 2 s left");
  EXPECT_EQ(plain_line({.step = 5, .steps = 5, .loss = 1, .held_out = {}, .steps_per_s = 0}),
            "step 5/5 (100 %), loss 1");
}

TEST(Progress, Durations) {
  EXPECT_EQ(duration_text(0.4), "0 s");
  EXPECT_EQ(duration_text(59), "59 s");
  EXPECT_EQ(duration_text(185), "3:05");
  EXPECT_EQ(duration_text(3723), "1:02:03");
  EXPECT_EQ(duration_text(1e300), "a long time");
}

TEST(Log, ColoursAreLeftOutWhereAskedFor) {
  const char* const was = std::getenv("NO_COLOR");
  const std::string before = was == nullptr ? "" : was;
  ::unsetenv("NO_COLOR");
  EXPECT_TRUE(Log::colors());
  ::setenv("NO_COLOR", "", 1);  // as if it were not set (no-color.org)
  EXPECT_TRUE(Log::colors());
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(Log::colors());
  if (was == nullptr)
    ::unsetenv("NO_COLOR");
  else
    ::setenv("NO_COLOR", before.c_str(), 1);
}

TEST(Log, KeepsWhatStderrShowed) {
  const TemporaryFolder folder;
  testing::internal::CaptureStderr();
  {
    Log log(false, false);
    log.info("before the file");
    log.open(folder / "log.txt");
    log.warn("braces {} and %s stay");
    log.file_only("by other means");
  }
  const std::string screen = testing::internal::GetCapturedStderr();
  const std::string file = content_of(folder / "log.txt");
  EXPECT_NE(screen.find("before the file\n"), std::string::npos);
  EXPECT_NE(screen.find("warning: braces {} and %s stay\n"), std::string::npos);
  EXPECT_EQ(screen.find("by other means"), std::string::npos);
  EXPECT_EQ(file.find(screen), 0u);
  EXPECT_NE(file.find("by other means\n"), std::string::npos);
}

TEST(Log, QuietShowsNothing) {
  testing::internal::CaptureStderr();
  Log log(true, true);
  log.info("a");
  log.show("bar");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Log, LinesPushTheUpdatingLineAway) {
  testing::internal::CaptureStderr();
  {
    Log log(false, true);
    log.show("bar");
    log.info("line");
  }
  const std::string screen = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(screen.starts_with("\r\033[Kbar\r\033[K"));
  EXPECT_TRUE(screen.ends_with("line\n\r\033[Kbar\r\033[K"));
}

TEST(Log, AFullDiskIsAFileError) {
  testing::internal::CaptureStderr();
  Log log(true, false);
  log.open("/dev/full");
  try {
    log.info("a");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::kFile);
    EXPECT_NE(std::string(error.what()).find("/dev/full"), std::string::npos);
  }
  testing::internal::GetCapturedStderr();
}

TEST(Metrics, HeadersAndRows) {
  EXPECT_EQ(csv_header(columns_of("train.csv")), "step,loss,lr,grad_norm,tokens,elapsed_s");
  EXPECT_EQ(csv_header(columns_of("eval_positions.csv")), "step,position,error,error_sem");
  EXPECT_EQ(csv_header(columns_of("baselines.csv")), "baseline,position,error,error_sem");
  const std::vector<std::string> metric{"accuracy"};
  const auto columns = columns_of("eval.csv", metric);
  EXPECT_EQ(csv_header(columns), "step,loss,loss_sem,accuracy");
  const double values[] = {3, 1, std::numeric_limits<double>::quiet_NaN(), 0.25};
  EXPECT_EQ(csv_row(columns, values), "3,1.0,nan,0.25");
}

TEST(Signals, TheFirstIsKeptAndTheSecondInterruptLeaves) {
  install_signal_handlers();
  clear_stop_signal();
  EXPECT_FALSE(stop_requested());
  std::raise(SIGTERM);
  std::raise(SIGUSR1);
  std::raise(SIGPIPE);
  EXPECT_EQ(stop_signal(), SIGTERM);
  clear_stop_signal();
  const int child = fork();
  if (child == 0) {
    std::raise(SIGINT);
    if (stop_signal() != SIGINT) _exit(1);
    std::raise(SIGINT);
    _exit(2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
}

}  // namespace headroom::progress_test
