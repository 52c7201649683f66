#include <stdlib.h>

#include <array>
#include <filesystem>
#include <functional>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/run_arguments.h"
#include "config/shorten.h"
#include "core/parallel.h"
#include "core/spelling.h"
#include "train/compare_runs.h"
#include "train/loop.h"
#include "train/signals.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSteps = 6;
constexpr double kStepFlops = 1e10;  // a second or less on two cores
constexpr std::array<int, 4> kThreads{1, 2, 3, 8};

class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "headroom-selftest-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw Error(Exit::kFile, name + ": cannot create a temporary folder");
    }
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

struct Killed {};   // leaves a run as kill -9 does
struct Stopped {};  // a signal: the selftest itself is to end

class Selftest {
 public:
  Selftest(const RunConfig& config, Arguments args, bool quiet)
      : quiet_(quiet), job_(train_job(shortened(config, kSteps, kStepFlops), "selftest", args)) {
    job_.quiet = true;
    say("a copy of " + std::to_string(job_.train.steps) + " steps of " +
        std::to_string(job_.train.batch) + " items, a checkpoint every second step");
  }

  void resume() {
    run(fresh("whole"));
    for (std::uint64_t step = 1; step < job_.train.steps; step += 2) {
      for (const bool kill : {false, true}) {
        TrainJob job = fresh("run");
        job.stop_after = [=](std::uint64_t done) {
          if (kill && done == step) throw Killed{};
          return done == step;
        };
        try {
          run(job);
        } catch (const Killed&) {
        }
        job.stop_after = {};
        job.resume = {.steps = job.train.steps, .log_every = job.run.log_every};
        run(job);
        compare(std::string(kill ? "killed" : "stopped") + " after step " + std::to_string(step) +
                " and resumed");
      }
    }
  }

  void threads() {
    for (const int count : kThreads) {
      set_threads(count);
      const bool first = count == kThreads.front();
      run(fresh(first ? "whole" : "run"));
      if (!first) compare(std::to_string(count) + " threads against 1");
    }
  }

  Exit finish() const { return different_ ? Exit::kCheckFailed : Exit::kDone; }

 private:
  TrainJob fresh(const char* name) const {
    TrainJob job = job_;
    job.out = scratch_.path() / name;
    fs::remove_all(job.out);
    return job;
  }
  static void run(const TrainJob& job) {
    train(job);
    if (stop_signal() != 0) throw Stopped{};
  }
  void compare(const std::string& what) {
    const RunComparison found = compare_runs(scratch_.path() / "whole", scratch_.path() / "run");
    const bool same = found.difference.empty();
    different_ = different_ || !same;
    const std::string line =
        what + ": " +
        (same ? std::to_string(found.files) + " files equal" : "DIFFERENT, " + found.difference);
    if (same) {
      say(line);
    } else {
      print(line + "\n");
    }
  }
  void say(const std::string& line) const {
    if (!quiet_) print(line + "\n");
  }

  bool quiet_, different_ = false;
  Scratch scratch_;
  TrainJob job_;
};

}  // namespace

Exit selftest_command(Arguments args) {
  ConfigArguments arguments;
  std::string what;
  bool quiet = false;
  CommandLine line(
      "selftest",
      "Proves on shortened copies of a config, in a temporary folder, that runs which "
      "are stopped or killed and resumed, or which use other numbers of threads, leave "
      "the same files byte for byte (elapsed_s, run.json and log.txt aside).",
      "headroom selftest resume configs/quickstart/rank-16.json\n"
      "headroom selftest threads my.json --set train.accumulate=4");
  line.argument("WHAT", what, "resume or threads.");
  arguments.declare(line);
  line.flag("--quiet", quiet, "Print nothing but differences.");
  if (!line.parse(args)) return Exit::kDone;
  const std::vector<std::string> names{"resume", "threads"};
  if (what != names[0] && what != names[1]) {
    throw Error(Exit::kUsage, "selftest: unknown test " + in_quotes(what) +
                                  did_you_mean(what, names) + " (tests: " + join(names) + ")");
  }
  const RunConfig config = arguments.read();
  arguments.choose_threads();
  try {
    Selftest test(config, args, quiet);
    what == names[0] ? test.resume() : test.threads();
    return test.finish();
  } catch (const Stopped&) {
    return stopped_exit();
  }
}

}  // namespace headroom
