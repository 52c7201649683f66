// Sweeps through the real binary: the lines are run by a real shell, and scripts/sweep.sh by
// itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "cli/run_binary.h"

namespace headroom::grid_test {

namespace fs = std::filesystem;

constexpr const char* kBase = R"({"task": {"dim": 4, "points": 4},
  "model": {"width": 4, "attention": {"heads": 1}, "ffn": {"width": 0}},
  "train": {"steps": 3, "batch": 8, "schedule": {"warmup": 0}}, "eval": {"items": 16}})";

class Grid : public testing::Test {
 protected:
  // A folder with the base, and the binary on the shell's PATH.
  Grid() {
    folder_.put("it's base.json", kBase);
    fs::create_directory(folder_.path() / "bin");
    fs::create_symlink(HEADROOM_BINARY, folder_.path() / "bin/headroom");
  }
  void sweep(const std::string& axes, const std::string& more = "") {
    folder_.put("sweep.json", "{\"base\": \"it's base.json\", \"out\": \"the runs\", \"axes\": [" +
                                  axes + "]" + more + "}");
  }
  BinaryResult grid(std::vector<std::string> args = {}) {
    args.insert(args.begin(), {"grid", "sweep.json"});
    return run_binary(args, {.folder = folder_.path()});
  }
  // The exit code; what it printed is in the file "output".
  int shell(const std::string& script) {
    const std::string file = folder_.put("script", script);
    const int status = std::system(("cd '" + folder_.path().string() +
                                    "' && PATH=\"$PWD/bin:$PATH\" OMP_WAIT_POLICY=passive sh "
                                    "script > output 2>&1 < /dev/null")
                                       .c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  static std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  std::vector<fs::path> runs() const {
    std::vector<fs::path> out;
    for (const auto& entry : fs::directory_iterator(folder_.path() / "the runs"))
      out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
  }
  ScratchFolder folder_{"grid ü"};
};

TEST_F(Grid, LinesRunInAShellAndFinishedOnesAreLeftOut) {
  sweep(R"({"seed": [5, 6]}, {"name": ["o k", "_"]})", R"(, "invalid": "skip")");
  const BinaryResult first = grid();
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(first.err.find("2 impossible points left out"), std::string::npos) << first.err;
  EXPECT_NE(first.err.find("sweep.json: 2 runs, 0 finished\n"), std::string::npos) << first.err;
  const std::vector<std::string> lines = lines_of(first.out);
  ASSERT_EQ(lines.size(), 2u);
  const std::string begin =
      R"(headroom train 'it'\''s base.json' --set seed=5 --set name=_ --out 'the runs/seed-5-name-_-)";
  EXPECT_TRUE(lines[0].starts_with(begin)) << lines[0];
  EXPECT_TRUE(lines[0].ends_with("' --resume=auto --quiet")) << lines[0];

  ASSERT_EQ(shell(lines[1]), 0) << folder_.read("output");
  EXPECT_EQ(folder_.read("output"), "");
  const BinaryResult second = grid();
  EXPECT_EQ(lines_of(second.out), std::vector<std::string>{lines[0]});
  EXPECT_NE(second.err.find("2 runs, 1 finished and left out"), std::string::npos) << second.err;
  EXPECT_EQ(lines_of(grid({"--all", "--quiet"}).out), lines);
  ASSERT_EQ(shell(second.out), 0) << folder_.read("output");
  const BinaryResult third = grid({"--quiet"});
  EXPECT_EQ(third.exit_code, 0);
  EXPECT_EQ(third.out, "");
  EXPECT_EQ(third.err, "");
  EXPECT_EQ(runs().size(), 2u);

  // Another's run, a broken or an unfinished one in its place is not finished.
  const fs::path run = runs()[0];
  const auto replaced = [&](const std::string& file, const std::string& from,
                            const std::string& to) {
    const std::string name = fs::relative(run / file, folder_.path()).string();
    const std::string text = folder_.read(name);
    std::string other = text;
    ASSERT_NE(other.find(from), std::string::npos) << text;
    folder_.put(name, other.replace(other.find(from), from.size(), to));
    EXPECT_EQ(lines_of(grid().out), std::vector<std::string>{lines[0]}) << to;
    folder_.put(name, text);
  };
  replaced("config.json", "\"seed\": 5", "\"seed\": 7");
  replaced("config.json", "\"seed\": 5", "\"seed\": ");
  replaced("run.json", "\"exit_code\": 0", "\"exit_code\": 75");
  replaced("run.json", "\"exit_code\": 0", "\"exit_code\": null");
  replaced("run.json", "{", "");
  EXPECT_EQ(grid().out, "");
}

TEST_F(Grid, ValuesOfEveryKindSurviveTheShell) {
  sweep(R"({"train.freeze": [["layers.0.*.weight", "*'$HOME\"`\\"]]},
           {"train.optimizer.betas": [[0.5, 0.75]]}, {"train.clip_norm": [null]})",
        R"(, "name": "x", "invalid": "skip")");
  const BinaryResult refused = grid();  // the second glob matches nothing, which is an error
  expect_refused(refused, 2, {"no point is possible", "$HOME"});
  sweep(R"({"train.freeze": [["layers.0.*.weight"]]}, {"train.optimizer.betas": [[0.5, 0.75]]},
           {"train.clip_norm": [null]})",
        R"(, "name": "x")");
  const BinaryResult r = grid();
  EXPECT_NE(r.out.find(R"(--set 'train.freeze=["layers.0.*.weight"]' )"), std::string::npos);
  ASSERT_EQ(shell(r.out), 0) << folder_.read("output");
  EXPECT_EQ(grid({"--quiet"}).out, "");  // the very config
}

TEST_F(Grid, JsonListsNamesDirectoriesValuesAndCommands) {
  sweep(R"({"seed": [5]}, {"train.optimizer.lr": [1e-3]})");
  const std::string line = lines_of(grid().out).at(0);
  const std::string json = grid({"--format", "json"}).out;
  std::string escaped;
  for (char c : line) escaped += c == '\\' ? "\\\\" : std::string(1, c);
  for (const std::string& part :
       {std::string("\"name\": \"seed-5-lr-1e-3\""), std::string("\"out\": \"the runs/seed-5-lr-"),
        std::string("\"set\": {\n"), std::string("\"train.optimizer.lr\": 1e-3"),
        "\"command\": \"" + escaped + "\"", std::string("\"finished\": false")})
    EXPECT_NE(json.find(part), std::string::npos) << part << "\nin:\n" << json;
  ASSERT_EQ(shell(line), 0) << folder_.read("output");
  EXPECT_EQ(grid({"--format", "json"}).out, "[]\n");
  EXPECT_NE(grid({"--format", "json", "--all"}).out.find("\"finished\": true"), std::string::npos);
}

TEST_F(Grid, AnInlineBaseIsWrittenWhereTheLinesReadIt) {
  folder_.put("sweep.json", R"({"base": {"extends": "it's base.json", "train": {"batch": 4}},
    "out": "a/b", "axes": [{"seed": [5]}]})");
  ASSERT_EQ(shell(grid().out), 0) << folder_.read("output");
  EXPECT_EQ(grid({"--quiet"}).out, "");
}

TEST_F(Grid, MistakesAreOneLineAndNothingIsMade) {
  sweep(R"({"seed": [5]}, {"model.attention.heads": [1, 3]})");
  expect_refused(grid(), 2, {"sweep.json: the point seed=5, model.attention.heads=3: "});
  EXPECT_FALSE(fs::exists(folder_.path() / "the runs"));
  expect_refused(run_binary({"grid", "no such.json"}), 3, {"no such.json"});
  expect_refused(run_binary({"grid"}), 2, {"SWEEP"});
  sweep(R"({"seed": [5]})");
  expect_refused(grid({"--format", "yaml"}), 2, {"yaml", "lines"});
  folder_.put("the runs", "a file");
  expect_refused(grid({"--quiet"}), 3, {"the runs"});
}

TEST_F(Grid, SweepScriptNamesTheFailedRunAndFinishesTheOthers) {
  const std::string script = std::string("'") + HEADROOM_SCRIPTS + "/sweep.sh' sweep.json 2";
  // A rate that overflows at once, between two that do not.
  sweep(R"({"train.optimizer.lr": [0.01, 1e38, 0.02]})", R"(, "name": "{train.optimizer.lr}")");
  EXPECT_EQ(shell(script), 1);
  const std::string said = folder_.read("output");
  EXPECT_NE(said.find("3 runs, "), std::string::npos) << said;
  EXPECT_NE(said.find("1 of 3 runs failed:\nexit code 4  the runs/1e38-"), std::string::npos)
      << said;
  EXPECT_EQ(said.find("the runs/0.01-", said.find("failed:")), std::string::npos) << said;
  const BinaryResult left = grid();
  EXPECT_NE(left.err.find("3 runs, 2 finished and left out"), std::string::npos) << left.err;
  EXPECT_EQ(lines_of(left.out).size(), 1u);

  sweep(R"({"train.optimizer.lr": [0.01, 0.02]})", R"(, "name": "{train.optimizer.lr}")");
  EXPECT_EQ(shell(script), 0) << folder_.read("output");
  EXPECT_NE(folder_.read("output").find("all runs are finished"), std::string::npos);
  EXPECT_EQ(shell(script + "x"), 2);
  sweep(R"({"seed": [5], "name": 5})");
  EXPECT_EQ(shell(script), 2);
}

TEST_F(Grid, SweepScriptStopsItsRunsAndGoesOn) {
  const std::string script = std::string("'") + HEADROOM_SCRIPTS + "/sweep.sh' sweep.json 1";
  sweep(R"({"zip": {"train.steps": [20000, 3], "seed": [1, 2]}})");
  EXPECT_EQ(shell(script + R"sh( &
pid=$!
until grep -qs '^100,' 'the runs'/*/train.csv; do sleep .05; done
kill -TERM $pid
wait $pid)sh"),
            75)
      << folder_.read("output");
  // One at a time: the second has not begun, the first has its checkpoint.
  ASSERT_EQ(runs().size(), 1u);
  const std::string record = fs::relative(runs()[0] / "run.json", folder_.path()).string();
  EXPECT_NE(folder_.read(record).find("\"exit_code\": 75"), std::string::npos)
      << folder_.read(record);
  EXPECT_EQ(shell(script), 0) << folder_.read("output");
  EXPECT_EQ(grid({"--quiet"}).out, "");
}

TEST_F(Grid, SweepScriptGivesEachJobItsShareOfTheCores) {
  const std::string script = std::string("'") + HEADROOM_SCRIPTS + "/sweep.sh' sweep.json ";
  const auto said_by = [&](const std::string& before, const std::string& jobs) {
    fs::remove_all(folder_.path() / "the runs");
    EXPECT_EQ(shell(before + script + jobs), 0) << folder_.read("output");
    return folder_.read("output");
  };
  sweep(R"({"seed": [5]})");
  const std::string one = said_by("unset OMP_NUM_THREADS; taskset -c 0 ", "3");
  EXPECT_NE(one.find("3 jobs would share 1 cores; taking 1"), std::string::npos) << one;
  EXPECT_NE(one.find("1 runs, 1 at a time, OMP_NUM_THREADS=1 each (1 cores)"), std::string::npos)
      << one;
  const std::string limited = said_by("OMP_NUM_THREADS=1 ", "1");
  EXPECT_NE(limited.find("1 at a time, OMP_NUM_THREADS=1 each"), std::string::npos) << limited;
  EXPECT_NE(folder_.read(fs::relative(runs().at(0) / "run.json", folder_.path()).string())
                .find("\"threads\": 1"),
            std::string::npos);
}

}  // namespace headroom::grid_test
