// What must hold when the machine is against it, through the real binary: full disks, too little
// memory, few threads, signals at any moment, divergence.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "cli/privileged.h"
#include "cli/run_binary.h"
#include "core/json.h"
#include "train/compare_runs.h"

namespace headroom::trust_cases_test {

namespace fs = std::filesystem;

constexpr const char* kTiny =
    R"({"task": {"dim": 4, "points": 4}, "model": {"width": 4, "ffn": {"width": 8}},
        "train": {"steps": 6, "batch": 8}, "eval": {"every": 3, "items": 16}, "run": {"log_every": 2}})";

class TrustCases : public testing::Test {
 protected:
  void SetUp() override { folder_.put("config.json", kTiny); }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  // A line of the shell in the folder, $H being the binary; its stdout and stderr are kept.
  BinaryResult shell(const std::string& line) const {
    const std::string file = path("output");
    const int status =
        std::system(("cd '" + folder_.path().string() + "' && H='" + HEADROOM_BINARY + "' && { " +
                     line + "; } > output 2>&1 < /dev/null")
                        .c_str());
    BinaryResult result;
    result.err = folder_.read("output");
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    return result;
  }
  static void expect_line(const BinaryResult& r, int code,
                          std::initializer_list<std::string> parts) {
    EXPECT_EQ(r.exit_code, code) << r.err;
    for (const std::string& part : parts) EXPECT_NE(r.err.find(part), std::string::npos) << r.err;
  }
  json::Value json_of(const std::string& name) const { return json::parse_file(path(name)); }
  void expect_no_temporaries(const std::string& run) const {
    for (const auto& entry : fs::recursive_directory_iterator(path(run)))
      EXPECT_EQ(entry.path().string().find(".tmp-"), std::string::npos) << entry.path();
  }

  ScratchFolder folder_{"trust cases ü"};
};

TEST_F(TrustCases, ADiskThatWillBeTooSmallIsSaidBeforeTheFirstStep) {
  fs::create_directory(path("disk"));
  const SmallDisk disk(path("disk"), 2u << 20);
  if (!disk.why_not().empty()) GTEST_SKIP() << disk.why_not();
  // Two of 3 x 4 x 66,000 bytes, the best and the one being written.
  const BinaryResult r = shell(
      "$H train config.json --set model.ffn.width=5500 --set "
      "model.width=6 --set model.read_in=linear --out disk/run");
  expect_line(r, 3, {"disk/run: its checkpoints need 3.", "run.keep = 2", "2.1 MB free"});
  EXPECT_TRUE(fs::is_empty(path("disk")));
  expect_line(shell("$H train config.json --quiet --out disk/run"), 0, {});
}

TEST_F(TrustCases, ADiskThatFillsUpLeavesTheEarlierCheckpoint) {
  fs::create_directory(path("disk"));
  const SmallDisk disk(path("disk"), 2u << 20);
  if (!disk.why_not().empty()) GTEST_SKIP() << disk.why_not();
  // Somebody else fills the disk while the run goes on.
  const std::string train =
      "$H train config.json --quiet --set train.steps=100000000 --set eval.every=100000000 --set "
      "train.schedule.type=constant --set run.checkpoint_every=1 --out disk/run";
  const BinaryResult r = shell(
      train +
      " & p=$!; while [ ! -s disk/run/train.csv ]; do sleep 0.02; done; sleep 0.1; head -c 4M "
      "/dev/zero > disk/filler 2>/dev/null; wait $p");
  expect_line(r, 3, {"headroom: disk/run/", "cannot write: No space left on device"});
  EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  expect_no_temporaries("disk/run");
  expect_line(shell("$H eval disk/run"), 0, {});
  fs::remove(path("disk/filler"));
  const BinaryResult again = shell(train + " --resume & p=$!; sleep 0.7; kill -TERM $p; wait $p");
  EXPECT_EQ(again.exit_code, 75) << again.err;
}

TEST_F(TrustCases, MoreMemoryThanThereIsIsSaidBeforeItIsTaken) {
  for (const char* command : {"train", "bench", "check"}) {
    const BinaryResult r =
        shell(std::string("$H ") + command +
              " config.json --set task.points=60000 --set train.batch=1000000 --set "
              "model.attention.heads=4" +
              (std::string(command) == "train" ? " --out run" : ""));
    expect_line(r, 2,
                {"the model with 1 sequence at once", " of activations) needs ",
                 " are available; shorter sequences (task.points)"});
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  }
  expect_line(
      shell("$H train config.json --out run --set task.points=300 --set train.batch=1000 --set "
            "model.attention.heads=60000 --set model.attention.key_size=1 --set "
            "model.attention.value_size=1 --set model.attention.copies=40"),
      2, {"the model with 6 sequences at once", " are available; a smaller train.batch"});
  expect_line(
      shell("$H train config.json --out run --set model.width=65536 --set model.layers=1024 "
            "--set model.attention.copies=64"),
      2, {"TB of parameters and gradients", "a smaller model.width"});
  expect_line(shell("$H train config.json --out run --set model.width=65536 --set "
                    "model.attention.heads=65536 --set model.attention.key_size=65536 --set "
                    "model.attention.copies=65536"),
              2, {"beyond any machine's memory"});
  EXPECT_FALSE(fs::exists(path("run")));
}

TEST_F(TrustCases, AControlGroupsMemoryCounts) {
  const LimitedGroup group("memory", "memory.limit_in_bytes", "memory.max", "200000000");
  if (!group.why_not().empty()) GTEST_SKIP() << group.why_not();
  const std::string train =
      group.enter() + "$H train config.json --threads 1 --set train.steps=1 --quiet --out ";
  expect_line(shell(train + "large --set train.batch=1000000 --set train.accumulate=1 --set "
                            "model.ffn.width=512"),
              2, {"MB are available"});
  expect_line(shell(train + "small"), 0, {});
}

TEST_F(TrustCases, TheCoresThatAreGrantedAreTheThreads) {
  // Case 31.
  const std::string train = "$H train config.json --set train.steps=1 --force --out run";
  expect_line(shell("env -u OMP_NUM_THREADS taskset -c 0 " + train), 0,
              {"1 thread (CPU affinity)"});
  expect_line(shell("OMP_NUM_THREADS=1 " + train), 0, {"1 thread (OMP_NUM_THREADS)"});
  expect_line(shell("OMP_NUM_THREADS=1 " + train + " --threads 2"), 0, {"2 threads (--threads)"});
  expect_line(shell("OMP_NUM_THREADS=abc " + train), 2,
              {"OMP_NUM_THREADS: expected a number of threads, at least 1, found \"abc\""});
}

TEST_F(TrustCases, AControlGroupsCoresAreTheThreads) {
  const LimitedGroup group("cpu", "cpu.cfs_quota_us", "cpu.max", "100000");
  if (!group.why_not().empty()) GTEST_SKIP() << group.why_not();
  expect_line(shell("unset OMP_NUM_THREADS; " + group.enter() +
                    "$H train config.json --set train.steps=1 --out run"),
              0, {"1 thread ("});
}

TEST_F(TrustCases, ThreadsThatCannotBeStartedAreAMistakeOfTheCall) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer takes more address space than the limit leaves";
#endif
  const BinaryResult r =
      shell("ulimit -v 2000000; $H train config.json --threads 4096 --quiet --out run");
  expect_line(r, 2, {"--threads: 4096 threads are more than can be started here, which are "});
  EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  EXPECT_FALSE(fs::exists(path("run")));
}

TEST_F(TrustCases, AnyNumberOfThreadsGivesTheSameBytes) {
  // 2048 rows of tokens and 64 x 8 heads: many more tiles than threads in every loop.
  folder_.put("wide.json", R"({"task": {"dim": 16, "points": 32},
      "model": {"width": 32, "layers": 2, "read_in": "linear", "read_out": "linear", "attention": {"heads": 8}, "ffn": {"width": 256}},
      "train": {"steps": 3, "batch": 64, "clip_norm": 1}, "eval": {"every": 2, "items": 128}, "run": {"log_every": 1}})");
  const std::string train = "$H train wide.json --quiet ";
  const auto run = [&](const std::string& name, const std::string& more) {
    expect_line(shell(train + more + " --out " + name), 0, {});
    return path(name);
  };
  for (const std::string mixing :
       {"",
        "--set model.attention.mix_scores=identity --set model.attention.mix_weights=identity"}) {
    const std::string kind = mixing.empty() ? "plain-" : "talking-";
    const std::string one = run(kind + "1", mixing + " --threads 1");
    for (const char* n : {"2", "3", "8"}) {
      const RunComparison compared = compare_runs(one, run(kind + n, mixing + " --threads " + n));
      EXPECT_EQ(compared.difference, "") << kind << n;
      EXPECT_GE(compared.files, 5u);
    }
  }
}

TEST_F(TrustCases, EverySeedIsOne) {
  // Case 33.
  std::vector<std::string> losses;
  for (const char* seed :
       {"0", "null", "1", "9223372036854775808", "18446744073709551615", "18446744073709551614"}) {
    const std::string out = std::string("seed-") + seed;
    expect_line(
        shell("$H train config.json --quiet --set seed=" + std::string(seed) + " --out " + out), 0,
        {});
    losses.push_back(folder_.read(out + "/eval.csv"));
  }
  EXPECT_EQ(losses[0], losses[1]);  // no seed is seed 0
  for (std::size_t i = 1; i < losses.size(); ++i)
    for (std::size_t k = i + 1; k < losses.size(); ++k) EXPECT_NE(losses[i], losses[k]);
  expect_line(shell("$H train config.json --set seed=18446744073709551616 --out over"), 2,
              {"seed: 18446744073709551616 is out of range"});
}

TEST_F(TrustCases, BytesThatAreNoTextLeaveRunJsonReadable) {
  expect_line(shell("$H train config.json --quiet --out $(printf 'r\\377n')"), 0, {});
  const json::Value record = json_of("r\xffn/run.json");
  const auto& words = *record.find("command_line")->array();
  EXPECT_EQ(std::get<std::string>(words.back().data), "r\xEF\xBF\xBDn");
  expect_line(shell("$H train config.json --resume --quiet --out $(printf 'r\\377n')"), 0, {});
}

TEST_F(TrustCases, SignalsAtAnyMoment) {
  // Case 27: starting, in steps, in the evaluation at each sixth, in the save of each step, at the
  // end.
  const auto start = [&](const std::string& out) {
    return start_binary({"train", path("config.json"), "--quiet", "--resume=auto", "--set",
                         "train.steps=100000", "--set", "eval.every=6", "--set", "eval.items=20000",
                         "--set", "train.schedule.type=constant", "--set", "run.checkpoint_every=1",
                         "--out", path(out)});
  };
  unsigned stopped = 0;
  for (unsigned i = 0; i < 18; ++i) {
    const int signal = std::array{SIGTERM, SIGINT, SIGUSR1}[i % 3];
    const std::string out = "run" + std::to_string(i / 9);
    const unsigned ms = 3 + i * i * 2;
    const auto begin = std::chrono::steady_clock::now();
    const pid_t child = start(out);
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    ::kill(child, signal);
    const int code = wait_for(child);
    const double took =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    EXPECT_LT(took, ms * 1e-3 + 2) << signal << " after " << ms << " ms";
    const bool caught = code == (signal == SIGINT ? 130 : 75);
    stopped += caught ? 1 : 0;
    // Before the handlers stand, the signal's default ends the process.
    EXPECT_TRUE(caught || code == -signal) << signal << " after " << ms << " ms: " << code;
    if (!caught || !fs::exists(path(out + "/checkpoints/last.safetensors"))) continue;
    const json::Value record = json_of(out + "/run.json");
    EXPECT_EQ(std::get<json::Number>(record.find("exit_code")->data).text, std::to_string(code));
    expect_line(shell("$H eval " + out + " --set eval.items=16"), 0, {});
    for (const char* csv : {"/train.csv", "/eval.csv"})
      EXPECT_EQ(folder_.read(out + csv).back(), '\n');
    expect_no_temporaries(out);
  }
  EXPECT_GE(stopped, 5u);
  // At the end, nothing is left to stop.
  expect_line(
      shell("$H train config.json --quiet --out done & p=$!; wait $p; kill -TERM $p 2>/dev/null; "
            "$H train config.json --resume=auto --out done"),
      0, {"has finished (done)"});
}

TEST_F(TrustCases, ASecondInterruptLeavesAtOnce) {
  const pid_t child =
      start_binary({"train", path("config.json"), "--quiet", "--set", "run.checkpoint_every=1",
                    "--set", "eval.every=100000", "--set", "train.steps=100000000", "--set",
                    "train.schedule.type=constant", "--out", path("run")});
  for (int i = 0; i < 1000 && folder_.read("run/train.csv").size() < 100; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ::kill(child, SIGINT);
  ::kill(child, SIGINT);
  EXPECT_EQ(wait_for(child), 130);
  if (fs::exists(path("run/checkpoints/last.safetensors")))
    expect_line(shell("$H eval run --set eval.items=16"), 0, {});
}

TEST_F(TrustCases, StepStopsWithoutAHalfFile) {
  const BinaryResult r = shell(
      "$H step config.json --at 1000000000 --dump step.safetensors & p=$!; sleep 0.5; kill -TERM "
      "$p; wait $p");
  EXPECT_EQ(r.exit_code, 75) << r.err;
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    EXPECT_EQ(entry.path().string().find("step.safetensors"), std::string::npos) << entry.path();
}

TEST_F(TrustCases, DivergenceSaysWhatGrewAndHowToHaveTheUpdateAgain) {
  const BinaryResult r = shell(
      "$H train config.json --set train.optimizer.type=sgd --set train.optimizer.lr=3 --set "
      "model.norm.type=none --set train.steps=5000 --set train.schedule.warmup=0 --set "
      "model.ffn.width=0 --set train.schedule.type=constant --set eval.every=5000 --set "
      "run.checkpoint_every=7 --out 'wild run'");
  expect_line(r, 4, {"the update is refused", "wild run/divergence.json holds", "--at "});
  const json::Value report = json_of("wild run/divergence.json");
  const auto number = [](const json::Value& v) { return std::get<json::Number>(v.data).text; };
  const std::string step = number(*report.find("step"));
  EXPECT_NE(r.err.find("headroom: step " + step + ": "), std::string::npos) << r.err;
  const json::Array& updates = *report.find("updates")->array();
  ASSERT_FALSE(updates.empty());
  EXPECT_EQ(updates.size(), std::min<std::size_t>(50, std::stoul(step)));
  EXPECT_EQ(number(*updates.back().find("step")), step);
  EXPECT_EQ(number(*updates.back().find("lr")), "3.0");
  double stream = 0;
  for (const json::Value& layer : *report.find("layers")->array())
    if (const auto* n = std::get_if<json::Number>(&layer.find("stream_max")->data))
      stream = std::max(stream, std::stod(n->text));
  EXPECT_GT(stream, 0.5);  // of points on the sphere
  EXPECT_NE(report.find("tensors")->array()->size(), 0u);
  // The command that it names takes the same update: the same batch and loss, from the checkpoint
  // and from the start, to the same refusal.
  const std::string again = std::get<std::string>(report.find("again")->data);
  EXPECT_TRUE(again.starts_with("headroom step 'wild run/config.json' --load ")) << again;
  const std::string dump = "update-" + step + ".safetensors";
  expect_line(shell("$H" + again.substr(8)), 4, {"step " + step + ": the update is refused", dump});
  expect_line(shell("$H step 'wild run/config.json' --at " + step + " --dump start.safetensors"), 4,
              {"step " + step + ": the update is refused"});
  EXPECT_EQ(folder_.read(dump), folder_.read("start.safetensors"));
  EXPECT_GT(folder_.read(dump).size(), 1000u);
}

}  // namespace headroom::trust_cases_test
