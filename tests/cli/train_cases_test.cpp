// Training through the real binary: run directories, edge values, signals, divergence, odd paths
// and locales.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/patterns.h"
#include "cli/run_binary.h"
#include "config/run_config.h"

namespace headroom::train_cases_test {

namespace fs = std::filesystem;

constexpr const char* kTiny =
    R"({"task": {"dim": 4, "points": 4}, "model": {"width": 4, "ffn": {"width": 8}},
        "train": {"steps": 6, "batch": 8}, "eval": {"every": 3, "items": 16}, "run": {"log_every": 2}})";
constexpr const char* kTinyRegression =
    R"({"task": {"type": "linear_regression", "dim": 3, "points": 4},
        "model": {"width": 8, "positions": {"type": "learned"}, "attention": {"mask": "causal"}, "ffn": {"width": 8}},
        "train": {"steps": 4, "batch": 8}, "eval": {"every": 2, "items": 16}, "run": {"log_every": 2}})";

class TrainCases : public testing::Test {
 protected:
  BinaryResult train(const std::string& config, const std::vector<std::string>& sets,
                     const std::vector<std::string>& more = {}, BinaryOptions options = {}) {
    std::vector<std::string> args{"train", folder_.put("config.json", config)};
    for (const std::string& item : sets) args.insert(args.end(), {"--set", item});
    args.insert(args.end(), more.begin(), more.end());
    options.folder = folder_.path();
    return run_binary(args, options);
  }
  void expect_runs(const BinaryResult& r) {
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_EQ(r.out, "");
  }
  int shell(const std::string& command) {
    const int status =
        std::system(("cd '" + folder_.path().string() + "' || exit 1; " + command).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  static std::string quoted(const std::string& text) { return "'" + text + "'"; }

  ScratchFolder folder_{"train cases ü"};
};

TEST_F(TrainCases, FreeSizesTrainAndCountAsTheFormulaSays) {
  // Case 6: 3 heads do not divide 100, but with sizes of their own they train.
  const std::vector<std::string> sets{"task.dim=100",
                                      "model.width=100",
                                      "model.attention.heads=3",
                                      "model.attention.key_size=7",
                                      "model.attention.value_size=5",
                                      "model.ffn.width=0",
                                      "train.steps=2"};
  expect_runs(train(kTiny, sets, {"--out", "free"}));
  const double parameters =
      2 * (3 * 7 * 100 + 3 * 7) + (3 * 5 * 100 + 3 * 5) + (100 * 3 * 5 + 100) + 1;
  EXPECT_EQ(json_number(folder_.read("free/run.json"), "parameters"), parameters);
}

TEST_F(TrainCases, ABudgetBecomesHeadsAndStaysInTheConfig) {
  expect_runs(train(kTiny,
                    {R"(model.attention.heads={"budget":"d^2.5"})", "model.attention.key_size=2",
                     "train.steps=2"},
                    {"--out", "budget", "--quiet"}));
  EXPECT_EQ(json_number(folder_.read("budget/run.json"), "budget"), 32);
  EXPECT_EQ(json_number(folder_.read("budget/run.json"), "heads"), 4);
  EXPECT_EQ(json_number(folder_.read("budget/run.json"), "value_size"), 2);
  EXPECT_NE(folder_.read("budget/config.json").find(R"("budget": "d^2.5")"), std::string::npos);
  // The same run as with the number.
  expect_runs(train(kTiny,
                    {"model.attention.heads=4", "model.attention.key_size=2",
                     "model.attention.value_size=2", "train.steps=2"},
                    {"--out", "number", "--quiet"}));
  EXPECT_EQ(folder_.read("budget/eval.csv"), folder_.read("number/eval.csv"));
  EXPECT_EQ(run_binary({"eval", (folder_.path() / "budget").string()}).out,
            run_binary({"eval", (folder_.path() / "number").string()}).out);
}

TEST_F(TrainCases, EdgeValuesRunOrAreRefused) {
  // Case 7. More heads than width: fine with sizes of their own.
  expect_runs(train(
      kTiny,
      {"model.attention.heads=9", "model.attention.key_size=1", "model.attention.value_size=1"},
      {"--out", "heads"}));
  for (const char* zero :
       {"model.attention.key_size=0", "model.layers=0", "task.points=0", "train.batch=0",
        "eval.patience=0", "train.steps=-1", "model.attention.heads=0"})
    expect_refused(train(kTiny, {zero}, {"--out", "zero"}), 2, {"out of range"});
  expect_refused(train(kTiny, {"train.schedule.warmup=6"}, {"--out", "zero"}), 2,
                 {"train.schedule.warmup"});
  expect_refused(train(kTiny, {"train.schedule.warmup=7"}, {"--out", "zero"}), 2,
                 {"train.schedule.warmup"});
  EXPECT_FALSE(fs::exists(folder_.path() / "zero"));
  expect_runs(train(kTiny, {"train.steps=0"}, {"--out", "none"}));
  EXPECT_TRUE(fs::exists(folder_.path() / "none/checkpoints/last.safetensors"));
  expect_runs(train(kTiny, {"train.steps=1"}, {"--out", "one"}));
  EXPECT_TRUE(fs::exists(folder_.path() / "one/checkpoints/step-000000001.safetensors"));
}

// Every (path, name) of a field that takes one of some names.
void names_of(const Fields& fields, const std::string& path,
              std::vector<std::pair<std::string, std::string>>& out) {
  for (const Fields::Field& field : fields.rows()) {
    const std::string here = path.empty() ? field.name : path + "." + field.name;
    for (const auto& choice : field.choices) out.emplace_back(here, choice.name);
    if (field.section) names_of(*field.section, here, out);
  }
}

TEST_F(TrainCases, EveryNameOfDescribeTrains) {
  // Case 9: each choice of each field, from the rows that describe and the parser share.
  const std::map<std::string, std::vector<std::string>> what_goes_with{
      {"task.points_from=orthonormal", {"task.query=separate", "model.attention.kind=cross"}},
      {"task.query=separate", {"model.attention.kind=cross"}},
      {"model.attention.kind=cross", {"task.query=separate"}},
      {"model.type=encoder_decoder", {"task.query=separate"}},
      {"model.attention.type=hard", {"train.steps=0"}},
      {"model.positions.type=rotary", {"model.attention.key_size=2"}},
      {"model.positions.type=concatenated", {"model.positions.width=3"}},
      {"model.attention.score_map=full", {"model.attention.key_size=null"}},
      {"model.attention.value_map=full", {"model.attention.value_size=null"}},
      {"model.attention.value_init=identity", {"model.attention.value_map=full"}},
      {"model.attention.heads.budget=d^2", {"model.attention.key_size=2"}},
      {"model.attention.heads.budget=d^2.5", {"model.attention.key_size=2"}},
      {"model.attention.heads.budget=d^3", {"model.attention.key_size=2"}}};
  // In-context tasks have choices of their own.
  const std::vector<std::string> of_in_context{"task.layout", "task.pool_of"};
  RunConfig defaults;
  Fields fields;
  defaults.declare(fields);
  std::vector<std::pair<std::string, std::string>> names;
  names_of(fields, "", names);
  ASSERT_GE(names.size(), 70u);
  std::size_t listed = 0;
  for (const auto& [field, name] : names) {
    if (field == "task.type") continue;  // each has a config of its own, below
    const std::string set = field + "=" + name;
    const bool in_context = std::ranges::find(of_in_context, field) != of_in_context.end();
    // A rate at which nothing diverges, whatever the optimizer.
    std::vector<std::string> sets{set, "train.steps=2", "train.optimizer.lr=1e-4"};
    if (const auto with = what_goes_with.find(set); with != what_goes_with.end())
      sets.insert(sets.end(), with->second.begin(), with->second.end());
    SCOPED_TRACE(set);
    expect_runs(train(in_context ? kTinyRegression : kTiny, sets,
                      {"--out", "name-" + std::to_string(listed++), "--quiet"},
                      {.environment = {"HEADROOM_EMULATE_BFLOAT16=1"}}));
  }
  for (const Choice<TaskType>& task : kTaskTypes) {
    std::vector<std::string> sets{"task.type=" + std::string(task.name), "train.steps=2",
                                  "train.optimizer.lr=1e-4"};
    if (task.value == TaskType::kInnerProduct || task.value == TaskType::kNearestMinusFarthest)
      sets.push_back("model.attention.kind=cross");
    SCOPED_TRACE(task.name);
    expect_runs(train(is_in_context(task.value) ? kTinyRegression : kTiny, sets,
                      {"--out", std::string("task-") + task.name, "--quiet"}));
  }
}

TEST_F(TrainCases, TheDefaultConfigFedBackIsTheSame) {
  const BinaryResult defaults = run_binary({"describe", "defaults"});
  ASSERT_EQ(defaults.exit_code, 0);
  expect_runs(train(defaults.out, {"train.steps=0"}, {"--out", "first", "--quiet"}));
  expect_runs(train(folder_.read("first/config.json"), {}, {"--out", "second", "--quiet"}));
  EXPECT_EQ(folder_.read("first/config.json"), folder_.read("second/config.json"));
}

TEST_F(TrainCases, OddPathsAndLocales) {
  // Case 10.
  for (const char* locale : {"C", "de_DE.UTF-8"}) {
    BinaryOptions options;
    options.environment = {std::string("LC_ALL=") + locale};
    const std::string out = std::string("läuft gut ") + locale;
    expect_runs(train(kTiny, {}, {"--out", out}, options));
    EXPECT_EQ(folder_.read(out + "/eval.csv").find(';'), std::string::npos);
    EXPECT_NE(folder_.read(out + "/train.csv").find("0."), std::string::npos);
  }
  EXPECT_EQ(folder_.read("läuft gut C/eval.csv"), folder_.read("läuft gut de_DE.UTF-8/eval.csv"));
}

TEST_F(TrainCases, AReaderThatGoesAwayDoesNotEndTheRun) {
  folder_.put("config.json", kTiny);
  shell("{ " + quoted(HEADROOM_BINARY) +
        " train config.json --out piped; echo $? > code; } 2>&1 | head -1 > first");
  EXPECT_EQ(folder_.read("code"), "0\n");
  EXPECT_NE(folder_.read("piped/train.csv").find("\n6,"), std::string::npos);
  EXPECT_NE(folder_.read("piped/run.json").find("\"exit_code\": 0"), std::string::npos);
}

TEST_F(TrainCases, QuietIsSilentOnSuccess) {
  const BinaryResult r = train(kTiny, {}, {"--out", "quiet", "--quiet"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_EQ(r.out + r.err, "");
}

TEST_F(TrainCases, SameSeedTwiceGivesTheSameFiles) {
  for (const char* config : {kTiny, kTinyRegression}) {
    expect_runs(train(config, {}, {"--out", "once", "--force", "--threads", "1"}));
    expect_runs(train(config, {}, {"--out", "twice", "--force", "--threads", "3"}));
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path() / "once")) {
      if (!entry.is_regular_file()) continue;
      const std::string name = fs::relative(entry.path(), folder_.path() / "once").string();
      if (name == "run.json" || name == "log.txt") continue;
      const std::string a = folder_.read("once/" + name), b = folder_.read("twice/" + name);
      if (name == "train.csv") {  // elapsed_s is the sixth column
        const std::string row = "(([^,\n]*,){5})[^,\n]*([^\n]*)";
        const auto of_a = matches(a, row), of_b = matches(b, row);
        ASSERT_EQ(of_a.size(), of_b.size());
        for (std::size_t i = 0; i < of_a.size(); ++i) {
          EXPECT_EQ(of_a[i][1], of_b[i][1]);
          EXPECT_EQ(of_a[i][3], of_b[i][3]);
        }
        continue;
      }
      EXPECT_EQ(a, b) << name;
    }
  }
}

TEST_F(TrainCases, DivergenceStopsAtOnceAndKeepsTheLastGoodCheckpoint) {
  // Plain gradient descent without norms at an absurd rate.
  const BinaryResult r = train(
      kTiny,
      {"train.optimizer.type=sgd", "train.optimizer.lr=1e6", "model.norm.type=none",
       "train.steps=500", "train.schedule.warmup=0", "eval.every=1000", "run.checkpoint_every=1"},
      {"--out", "wild", "--quiet"});
  expect_refused(r, 4, {"step"});
  EXPECT_NE(folder_.read("wild/run.json").find("\"exit_code\": 4"), std::string::npos);
  EXPECT_EQ(run_binary({"eval", (folder_.path() / "wild").string()}).exit_code, 0);
  // One update from which the parameters are finite, and what the model makes of them is not.
  expect_refused(
      train(kTiny,
            {"train.optimizer.type=sgd", "train.optimizer.lr=1e30", "model.norm.type=none",
             "train.schedule.warmup=0", "eval.every=1000", "run.checkpoint_every=1"},
            {"--out", "wilder", "--quiet"}),
      4, {"step 2"});
  const std::string run = (folder_.path() / "wilder").string();
  expect_refused(run_binary({"eval", run}), 4, {"last.safetensors", "diverged", "held-out loss"});
  EXPECT_EQ(run_binary({"eval", run, "--checkpoint", "best"}).exit_code, 0);
}

TEST_F(TrainCases, NonFiniteWeightsAreRefused) {
  // Case 15 with the real files: parameters of 3e38 make the first loss overflow.
  expect_runs(train(kTiny, {"train.steps=0"}, {"--out", "start", "--quiet"}));
  std::string weights = folder_.read("start/checkpoints/last.safetensors");
  const std::string flipped =
      weights.substr(0, weights.size() - 1) + static_cast<char>(weights.back() ^ 1);
  folder_.put("flipped.safetensors", flipped);
  expect_refused(train(kTiny, {}, {"--out", "from", "--init-from", "flipped.safetensors"}), 5,
                 {"flipped.safetensors", "checksum"});
  EXPECT_FALSE(fs::exists(folder_.path() / "from"));
  expect_refused(train(kTiny, {"model.ffn.width=9"},
                       {"--out", "from", "--init-from", "start/checkpoints/last.safetensors"}),
                 5, {"ffn"});
}

TEST_F(TrainCases, InitFromContinuesFromTheWeights) {
  expect_runs(train(kTiny, {}, {"--out", "a", "--quiet"}));
  expect_runs(train(kTiny, {"train.steps=0"},
                    {"--out", "b", "--quiet", "--init-from", "a/checkpoints/last.safetensors"}));
  const std::string a = folder_.read("a/eval.csv"), b = folder_.read("b/eval.csv");
  const auto last_row = [](const std::string& text) {
    const std::size_t row = text.rfind('\n', text.size() - 2) + 1;
    return text.substr(text.find(',', row));
  };
  EXPECT_EQ(last_row(a), last_row(b));
}

TEST_F(TrainCases, UsedAndUnwritableDirectories) {
  expect_runs(train(kTiny, {}, {"--out", "run", "--quiet"}));
  const std::string before = folder_.read("run/train.csv");
  expect_refused(train(kTiny, {}, {"--out", "run"}), 2, {"run", "--force", "--out"});
  EXPECT_EQ(folder_.read("run/train.csv"), before);
  expect_runs(train(kTiny, {"seed=1"}, {"--out", "run", "--force", "--quiet"}));
  EXPECT_NE(folder_.read("run/train.csv"), before);
  EXPECT_EQ(folder_.read("run.old-1/train.csv"), before);
  expect_refused(train(kTiny, {}, {"--out", "no/such/parent"}), 3, {"no/such"});
  expect_refused(train(kTiny, {}, {"--out", "/proc/run"}), 3, {"/proc/run"});
  expect_refused(run_binary({"eval", (folder_.path() / "absent").string()}), 3, {"absent"});
}

TEST_F(TrainCases, ThirtyTwoSeedsAtOnceGetThirtyTwoDirectories) {
  // Case 30, with derived names.
  folder_.put("config.json", kTiny);
  const std::string run =
      quoted(HEADROOM_BINARY) + " train config.json --quiet --threads 1 --set train.steps=1";
  EXPECT_EQ(shell("for s in $(seq 32); do " + run + " --set seed=$s & done; wait"), 0);
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_.path() / "runs"))
    names.insert(entry.path().filename().string());
  EXPECT_EQ(names.size(), 32u);
  for (const std::string& name : names) {
    EXPECT_TRUE(has_match(name, "^run-[0-9a-f]{8}$")) << name;
    EXPECT_NE(folder_.read("runs/" + name + "/run.json").find("\"exit_code\": 0"),
              std::string::npos)
        << name;
  }
  // Two equal ones: one trains, the other is refused.
  EXPECT_EQ(shell(run + " --set seed=99 2>/dev/null & a=$!; " + run +
                  " --set seed=99 2>/dev/null & b=$!; "
                  "wait $a; x=$?; wait $b; y=$?; test $((x + y)) = 2 && test $((x * y)) = 0"),
            0);
}

TEST_F(TrainCases, SignalsStopAtAStepWithACheckpoint) {
  folder_.put("config.json", kTiny);
  for (const auto& [signal, code] : {std::pair{"INT", 130}, {"TERM", 75}, {"USR1", 75}}) {
    const std::string out = std::string("signal-") + signal;
    const std::string command = quoted(HEADROOM_BINARY) +
                                " train config.json --quiet --set train.steps=100000000 --set "
                                "eval.every=100000000 --out " +
                                out + " & p=$!; while [ ! -s " + out +
                                "/train.csv ]; do sleep 0.05; done; sleep 0.3; kill -" + signal +
                                " $p; wait $p";
    EXPECT_EQ(shell(command), code) << signal;
    EXPECT_NE(folder_.read(out + "/run.json").find("\"exit_code\": " + std::to_string(code)),
              std::string::npos);
    EXPECT_EQ(run_binary({"eval", (folder_.path() / out).string()}).exit_code, 0);
  }
}

TEST_F(TrainCases, EvalPrintsTheModelBesideTheBaselines) {
  expect_runs(train(kTinyRegression, {}, {"--out", "r", "--quiet"}));
  const std::string run = (folder_.path() / "r").string();
  const BinaryResult text = run_binary({"eval", run});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  for (const char* row : {"model", "zero", "averaging", "nearest_3", "least_squares", "examples"})
    EXPECT_NE(text.out.find(row), std::string::npos) << row;
  const BinaryResult json =
      run_binary({"eval", run, "--json", "--checkpoint", "best", "--set", "eval.items=32"});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  for (const char* key :
       {"\"loss\"", "\"loss_sem\"", "\"metrics\"", "\"baselines\"", "\"positions\"", "\"shifts\""})
    EXPECT_NE(json.out.find(key), std::string::npos) << key;
  // The last row of eval.csv is what eval finds again.
  const std::string csv = folder_.read("r/eval.csv");
  const double trained =
      std::atof(csv.substr(csv.find(',', csv.rfind('\n', csv.size() - 2)) + 1).c_str());
  EXPECT_DOUBLE_EQ(json_number(run_binary({"eval", run, "--json"}).out, "loss"), trained);
  expect_refused(run_binary({"eval", run, "--set", "train.batch=3"}), 2, {"eval"});
  expect_refused(run_binary({"eval", run + "/checkpoints/last.safetensors"}), 2,
                 {"is a file", "headroom eval " + run + " --checkpoint"});
  for (const char* part :
       {"\"not_trained\": true", "\"reference\": \"zero\"", "\"loss_interval\": [",
        "\"error_interval\": [", "\"metrics_sem\"", "\"metrics_interval\""})
    EXPECT_NE(json.out.find(part), std::string::npos) << part;
  EXPECT_NE(text.out.find("not trained: the loss is not below that of zero"), std::string::npos);
  EXPECT_NE(folder_.read("r/run.json").find("\"not_trained\": true"), std::string::npos);
  EXPECT_NE(folder_.read("r/log.txt").find("not trained: no better than zero at"),
            std::string::npos);
  const BinaryResult chosen = run_binary({"eval", run, "--baselines", "nearest_2,averaging"});
  ASSERT_EQ(chosen.exit_code, 0) << chosen.err;
  EXPECT_NE(chosen.out.find("nearest_2"), std::string::npos) << chosen.out;
  EXPECT_EQ(chosen.out.find("least_squares"), std::string::npos) << chosen.out;
  expect_refused(run_binary({"eval", run, "--baselines", "averagin"}), 2,
                 {"--baselines", "averaging"});
}

TEST_F(TrainCases, EvalRefusesTheCheckpointOfAnotherModel) {
  // Heads of rank 1 and of rank 4 have tensors of the same names and sizes.
  expect_runs(train(kTiny, {"model.attention.heads=4"}, {"--out", "many", "--quiet"}));
  expect_runs(train(kTiny, {"model.attention.heads=1"}, {"--out", "one", "--quiet"}));
  const std::string one = (folder_.path() / "one").string(),
                    other = (folder_.path() / "many/checkpoints/last.safetensors").string();
  EXPECT_EQ(run_binary({"eval", one}).exit_code, 0);
  const BinaryResult r = run_binary({"eval", one, "--checkpoint", other});
  expect_refused(r, 5, {"another model", "model.attention.heads (4 there, 1 here)"});
  const std::string config = folder_.put("own.json", kTiny);
  expect_refused(run_binary({"step", config, "--dump", config}), 2, {"overwrite the config"});
}

TEST_F(TrainCases, CheckAndStepReport) {
  const std::string config = folder_.put("config.json", kTiny);
  const BinaryResult check = run_binary({"check", config});
  EXPECT_EQ(check.exit_code, 0) << check.err;
  for (const char* part : {"d H r", "parameters", "FLOPs", "memory", "a step here",
                           "gradients agree", "\"key_size\": 4"})
    EXPECT_NE(check.out.find(part), std::string::npos) << part << "\n" << check.out;
  const BinaryResult json = run_binary({"check", config, "--json"});
  EXPECT_EQ(json_number(json.out, "d_h_r"), 16);
  EXPECT_NE(json.out.find("\"passed\": true"), std::string::npos);
  const std::string dump = (folder_.path() / "d.safetensors").string();
  EXPECT_EQ(run_binary({"step", config, "--dump", dump}).exit_code, 0);
  const BinaryResult again =
      run_binary({"step", config, "--load", dump, "--dtype", "float64", "--dump", dump + "2"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.out.find("loss"), std::string::npos);
  expect_refused(run_binary({"step", config}), 2, {"--dump"});
}

}  // namespace headroom::train_cases_test
