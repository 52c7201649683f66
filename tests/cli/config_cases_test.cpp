// Mistakes in configs and --set items, through the real binary. `check` reads a config and trains
// nothing.
#include <gtest/gtest.h>

#include "cli/patterns.h"
#include "cli/run_binary.h"
#include "core/json.h"

namespace headroom::config_cases_test {

class ConfigCases : public testing::Test {
 protected:
  BinaryResult check(const std::string& text, std::vector<std::string> more = {}) {
    std::vector<std::string> args{"check", folder_.put("a b ü.json", text)};
    args.insert(args.end(), more.begin(), more.end());
    return run_binary(args);
  }
  ScratchFolder folder_{"config cases ü"};
};

TEST_F(ConfigCases, MisspeltKeys) {
  expect_refused(check("{\n\"train\": {\"optimizer\": {\n\"learning_rte\": 0.1}}}"), 2,
                 {"a b ü.json:3: train.optimizer.learning_rte: unknown key", "'lr'"});
  expect_refused(check("{}", {"--set", "train.optimizer.learning_rte=0.1"}), 2,
                 {"--set: train.optimizer.learning_rte: unknown key", "'lr'"});
  expect_refused(check("{\"sed\": 1}"), 2, {":1: sed: unknown key", "'seed'"});
}

TEST_F(ConfigCases, DuplicateKeys) {
  expect_refused(check("{\"seed\": 1,\n\"name\": \"x\",\n\"seed\": 2}"), 2,
                 {"ü.json:3: ", "\"seed\"", "line 1"});
}

TEST_F(ConfigCases, Numbers) {
  expect_refused(check("{\"train\": {\"steps\": 1.5}}"), 2, {"train.steps: 1.5 is not whole"});
  expect_refused(check("{\"train\": {\"batch\": 18446744073709551616}}"), 2,
                 {"train.batch: 18446744073709551616 is out of range", "from 1 to"});
  expect_refused(check("{\"task\": {\"points\": -1}}"), 2, {"task.points: -1 is out of range"});
  expect_refused(check("{}", {"--set", "train.optimizer.lr=-0.5"}), 2,
                 {"train.optimizer.lr: -0.5 is out of range"});
  expect_refused(check("{}", {"--set", "model.bias=False"}), 2, {"model.bias: ", "'false'"});
  expect_refused(check("{}", {"--set", "name=a=b=c %@#"}), 2, {"\"a=b=c %@#\""});
}

TEST_F(ConfigCases, SizesThatDoNotGoTogether) {
  expect_refused(
      check(
          "{\"task\": {\"dim\": 100}, \"model\": {\"width\": 100, \"attention\": {\"heads\": 3}}}"),
      2, {"model.attention.heads", "3", "model.width", "100", "1, 2, 4, 5, 10, 20, 25, 50, 100"});
  expect_refused(check("{\"train\": {\"steps\": 10, \"schedule\": {\"warmup\": 10}}}"), 2,
                 {"ü.json:1: train.schedule.warmup", "10"});
}

TEST_F(ConfigCases, MalformedFiles) {
  for (const char* text : {"{\"seed\": 1,}", "{'seed': 1}", "{\"seed\": NaN}", "{", "", "}",
                           "{\"seed\": 1", "\"", "{\"seed\" 1}", "null {"}) {
    expect_refused(check(text), 2, {"ü.json:1:"});
  }
  expect_refused(check(std::string(100000, '[')), 2, {"64 levels"});
  expect_refused(check("null"), 2, {"expected an object"});
  expect_refused(check("{\"seed\": 1\xff}"), 2, {"ü.json:1:"});
  folder_.put("a b ü.json", "");
  std::filesystem::resize_file(folder_.path() / "a b ü.json",
                               std::uintmax_t{1} << 30);  // 1 GB, sparse
  expect_refused(run_binary({"check", (folder_.path() / "a b ü.json").string()}), 2, {"16 MB"});
}

TEST_F(ConfigCases, FilesThatAreNot) {
  expect_refused(run_binary({"check", (folder_.path() / "nö.json").string()}), 3, {"nö.json"});
  expect_refused(run_binary({"check", folder_.path().string()}), 3, {folder_.path().string()});
  expect_refused(check("{\"extends\": \"missing.json\"}"), 3, {"missing.json", "a b ü.json"});
}

TEST_F(ConfigCases, CheckPrintsTheBudgetsOfALayerAndOfTheModel) {
  const std::vector<std::string> sets{"--set", "model.layers=3",
                                      "--set", "model.attention.heads.budget=d^2.5",
                                      "--set", "model.attention.key_size=4"};
  const BinaryResult r = check("{}", sets);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  for (const char* row :
       {"\n      \"heads\": 16,", "\none layer, forward ", "\nwhole model, forward ",
        "\nattention query, key, value ", "\nattention scores and sums ", "\nffn "})
    EXPECT_NE(r.out.find(row), std::string::npos) << row << "\nin:\n" << r.out;
  const std::string budgets(
      "d H r +1,024 +3,072\nquery and key weights +2,048 +6,144\n"
      "value and output weights +2,048 +6,144\nmixing weights +0 +0\n");
  EXPECT_TRUE(has_match(r.out, budgets)) << r.out;

  std::vector<std::string> with_json = sets;
  with_json.push_back("--json");
  const json::Value report = json::parse(check("{}", with_json).out, "stdout");
  const json::Value& budget = *report.find("budget");
  const auto number = [](const json::Value& v) { return std::get<json::Number>(v.data).text; };
  EXPECT_EQ(number(*budget.find("d_h_r")), "1024");
  EXPECT_EQ(number(*budget.find("model_d_h_r")), "3072");
  EXPECT_EQ(number(*budget.find("layer_weights")->find("value_output")), "2048");
  EXPECT_EQ(number(*budget.find("model_weights")->find("query_key")), "6144");
  for (const char* key : {"layer", "model", "layer_parameters", "parameters", "step_flops",
                          "forward_flops_per_token", "layer_forward_flops_per_token"})
    EXPECT_NE(budget.find(key), nullptr) << key;
  EXPECT_EQ(number(*report.find("resolved_model")->find("attention")->find("heads")), "16");
  EXPECT_NE(report.find("config")->find("model")->find("attention")->find("heads")->object(),
            nullptr);
}

TEST_F(ConfigCases, QueryTokensCountAsTokensOfAStep) {
  const char* text = R"({"task": {"points": 8, "query": "separate", "queries": 3},
      "model": {"attention": {"kind": "cross"}}, "train": {"batch": 10}})";
  const json::Value report = json::parse(check(text, {"--json"}).out, "stdout");
  const auto number = [&](const char* key) {
    return std::stod(std::get<json::Number>(report.find("budget")->find(key)->data).text);
  };
  EXPECT_DOUBLE_EQ(number("step_flops"), number("step_flops_per_token") * 10 * (8 + 3));
  const std::string one =
      folder_.put("one.json", R"({"extends": "a b ü.json", "train": {"batch": 1}})");
  const json::Value compared = json::parse(
      run_binary({"diff", (folder_.path() / "a b ü.json").string(), one, "--json"}).out, "stdout");
  const json::Value& row = compared.find("budget")->array()->front();
  EXPECT_EQ(std::get<std::string>(row.find("quantity")->data), "step_flops");
  EXPECT_DOUBLE_EQ(std::stod(std::get<json::Number>(row.find("a")->data).text),
                   number("step_flops"));
}

TEST_F(ConfigCases, FlagsBeforeArguments) {
  const std::string path = folder_.put("c.json", "{}");
  expect_refused(run_binary({"check", "--sets", "a=1", path}), 2,
                 {"unknown flag \"--sets\"", "'--set'"});
  expect_refused(run_binary({"check", "--set", "sed=1", path}), 2, {"--set: sed: unknown key"});
  expect_refused(run_binary({"check", path, "--set"}), 2, {"--set needs a value"});
  expect_refused(run_binary({"check"}), 2, {"CONFIG is missing"});
  expect_refused(run_binary({"check", path, "--lr=0.1"}), 2, {"--set train.optimizer.lr=VALUE"});
}

TEST_F(ConfigCases, CheckShowsTheShapesThatWillTrain) {
  const BinaryResult result =
      check(R"({"task": {"points": 5}, "model": {"positions": {"type": "learned"}}})");
  EXPECT_EQ(result.exit_code, 0);
  const std::size_t row = result.out.find("\npositions.weight");
  ASSERT_NE(row, std::string::npos) << result.out;
  EXPECT_NE(result.out.substr(row, 60).find("(5, 16)"), std::string::npos) << result.out;
}

// Each function class, in both layouts: `check` agrees with its gradients, and it trains.
TEST_F(ConfigCases, EveryInContextTaskPassesCheckAndTrains) {
  const char* text = R"({"task": {"type": "linear_regression", "dim": 4, "points": 5, "pool": 3},
      "model": {"width": 8, "attention": {"heads": 2}}, "train": {"steps": 2, "batch": 8},
      "eval": {"every": 1, "items": 2}})";
  for (const char* type :
       {"linear_regression", "sparse_linear_regression", "decision_tree", "relu_network_regression",
        "quadratic_regression", "linear_classification"}) {
    for (const char* layout : {"interleaved", "paired"}) {
      const std::vector<std::string> sets{"--set", std::string("task.type=") + type, "--set",
                                          std::string("task.layout=") + layout};
      const BinaryResult checked = check(text, sets);
      EXPECT_EQ(checked.exit_code, 0) << type << checked.err;
      EXPECT_NE(checked.out.find("gradients agree"), std::string::npos) << type;
      const std::string out = (folder_.path() / (std::string(type) + layout)).string();
      std::vector<std::string> train{"train", (folder_.path() / "a b ü.json").string(), "--out",
                                     out, "--quiet"};
      train.insert(train.end(), sets.begin(), sets.end());
      const BinaryResult trained = run_binary(train);
      EXPECT_EQ(trained.exit_code, 0) << type << trained.err;
      const BinaryResult evaluated = run_binary({"eval", out});
      EXPECT_EQ(evaluated.exit_code, 0) << type << evaluated.err;
    }
  }
}

}  // namespace headroom::config_cases_test
