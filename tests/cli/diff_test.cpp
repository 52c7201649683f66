// `headroom diff` through the real binary: configs, runs, what is missing.
#include <gtest/gtest.h>

#include "cli/patterns.h"
#include "cli/run_binary.h"
#include "core/json.h"

namespace headroom::diff_test {

namespace fs = std::filesystem;

constexpr const char* kTiny =
    R"({"name": "tiny", "task": {"dim": 4, "points": 4}, "model": {"width": 4, "ffn": {"width": 8}},
        "train": {"steps": 4, "batch": 8}, "eval": {"every": 2, "items": 16}})";
constexpr const char* kRegression =
    R"({"name": "regression", "task": {"type": "linear_regression", "dim": 3, "points": 4},
        "model": {"width": 8, "attention": {"mask": "causal"}, "ffn": {"width": 8}},
        "train": {"steps": 2, "batch": 8}, "eval": {"every": 2, "items": 16}})";

class DiffCases : public testing::Test {
 protected:
  std::string train(const std::string& name, const char* config,
                    const std::vector<std::string>& sets = {}) {
    std::vector<std::string> args{"train", folder_.put(name + ".json", config), "--quiet", "--out",
                                  (folder_.path() / name).string()};
    for (const std::string& item : sets) args.insert(args.end(), {"--set", item});
    const BinaryResult r = run_binary(args);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return (folder_.path() / name).string();
  }
  std::string diff(const std::string& a, const std::string& b) {
    const BinaryResult r = run_binary({"diff", a, b});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_EQ(r.err, "");
    return r.out;
  }
  json::Value diff_json(const std::string& a, const std::string& b) {
    const BinaryResult r = run_binary({"diff", a, b, "--json"});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return json::parse(r.out, "stdout");
  }
  static void expect_row(const std::string& text, const std::string& row) {
    EXPECT_TRUE(has_match(text, "\n" + row + "\n")) << row << "\nin:\n" << text;
  }
  // "KEY: A | B" of each row of a list, "-" where a side has none.
  static std::vector<std::string> lines(const json::Value& report, const char* list,
                                        const char* name) {
    std::vector<std::string> out;
    for (const json::Value& row : *report.find(list)->array()) {
      const auto side = [&](const char* key) {
        return row.find(key) == nullptr ? std::string("-") : json::write(*row.find(key), 0);
      };
      out.push_back(std::get<std::string>(row.find(name)->data) + ": " + side("a") + " | " +
                    side("b"));
    }
    return out;
  }
  static bool flag(const json::Value& value, const char* key) {
    return std::get<bool>(value.find(key)->data);
  }

  ScratchFolder folder_{"diff cases ü"};
};

TEST_F(DiffCases, NothingDiffers) {
  const std::string a = folder_.put("a.json", kTiny), b = folder_.put("b.json", kTiny);
  EXPECT_EQ(diff(a, b), "a  " + a + "\nb  " + b + "\n\nconfigs and budgets are the same\n");
  const json::Value report = diff_json(a, b);
  EXPECT_TRUE(flag(report, "same"));
  EXPECT_TRUE(report.find("config")->array()->empty());
  EXPECT_TRUE(report.find("a")->find("end")->is_null());
}

TEST_F(DiffCases, DerivedValuesAreComparedAndMarked) {
  const std::string a = folder_.put("a.json", kTiny);
  // Heads from a budget; the same key size as a number and as what follows.
  const std::string b = folder_.put(
      "b.json",
      R"({"extends": "a.json", "model": {"attention": {"heads": {"budget": 32}, "key_size": 4}}})");
  const std::string text = diff(a, b);
  expect_row(text, "model.attention.heads +1 +2 \\(derived\\)");
  expect_row(text, "model.attention.kv_heads +1 \\(derived\\) +2 \\(derived\\)");
  EXPECT_EQ(text.find("key_size"), std::string::npos) << text;
  EXPECT_EQ(text.find("how they ended"), std::string::npos) << text;
  expect_row(text, "d H r of a layer +16 +32 +2.000");
  // 4 d^2 + 4 d of the heads (one bias of the output), 2 d F + F + d, two scalars.
  expect_row(text, "parameters +158 +234 +1.481");
  EXPECT_EQ(text.find(", ffn"), std::string::npos) << text;
  const json::Value report = diff_json(a, b);
  EXPECT_FALSE(flag(report, "same"));
  const json::Value& heads = report.find("config")->array()->front();
  EXPECT_EQ(std::get<std::string>(heads.find("key")->data), "model.attention.heads");
  EXPECT_FALSE(flag(heads, "a_derived"));
  EXPECT_TRUE(flag(heads, "b_derived"));
  EXPECT_EQ(lines(report, "budget", "quantity").front(), "d_h_r: 16.0 | 32.0");
}

TEST_F(DiffCases, RunsSayHowTheyEnded) {
  const std::string a = train("a", kTiny), b = train("b", kTiny, {"train.steps=2", "seed=1"});
  const std::string text = diff(a, b);
  expect_row(text, "seeds.init +0 \\(derived\\) +1 \\(derived\\)");
  expect_row(text, "train.steps +4 +2");
  EXPECT_NE(text.find("\nbudgets are the same\n"), std::string::npos) << text;
  expect_row(text, "exit reason +done, not trained +done, not trained");
  expect_row(text, "updates +4 +2");
  EXPECT_EQ(text.find("tasks differ"), std::string::npos) << text;

  // The last row of eval.csv, as it stands there.
  const json::Value report = diff_json(a, b);
  const json::Value& end = *report.find("a")->find("end");
  const std::string csv = folder_.read("a/eval.csv");
  const std::string last = csv.substr(csv.rfind('\n', csv.size() - 2) + 1);
  const auto number = [&](const char* key) {
    return std::get<json::Number>(end.find(key)->data).text;
  };
  EXPECT_TRUE(last.starts_with("4," + number("loss") + "," + number("loss_sem"))) << last;
  EXPECT_EQ(number("loss_step"), "4");
  EXPECT_EQ(number("steps"), "4");
  EXPECT_NE(end.find("best")->find("value"), nullptr);
  EXPECT_NE(end.find("elapsed_s"), nullptr);

  // A run beside a config; the same config in both.
  const std::string mixed = diff(a, a + "/config.json");
  EXPECT_NE(mixed.find("configs and budgets are the same"), std::string::npos) << mixed;
  expect_row(mixed, "exit reason +done, not trained +a config, not run");
}

TEST_F(DiffCases, TasksMayDiffer) {
  const std::string a = train("a", kTiny), b = train("b", kRegression);
  const std::string text = diff(a, b);
  expect_row(text, "task.query +self_farthest +-");
  expect_row(text, "task.noise +- +0.0");
  // Both fields stand in their section.
  EXPECT_LT(text.find("\ntask.noise"), text.find("\nmodel."));
  EXPECT_NE(text.find("the tasks differ"), std::string::npos) << text;
  const json::Value report = diff_json(a, b);
  EXPECT_FALSE(flag(report, "same_task"));
  const std::vector<std::string> rows = lines(report, "config", "key");
  const auto has = [&](const std::string& row) {
    return std::find(rows.begin(), rows.end(), row) != rows.end();
  };
  EXPECT_TRUE(has("task.query: \"self_farthest\" | -"));
  EXPECT_TRUE(has("task.noise: - | 0.0"));
}

TEST_F(DiffCases, RunsThatEndedBadly) {
  const std::string a = train("a", kTiny), b = train("b", kTiny, {"eval.every=1000000"});
  folder_.put("a/eval.csv", "step,loss,loss_sem\n0,1.5,0.1\n2,nan,nan\n4,0.1");  // cut off
  const std::string text = diff(a, b);
  expect_row(text, "last held-out loss +nan \\+- nan at step 2 .*");
  fs::remove(folder_.path() / "a/eval.csv");
  folder_.put("a/run.json", R"({"exit_reason": "running", "steps": -1, "best": null})");
  expect_row(diff(a, b), "exit reason +running +done, not trained");
  expect_row(diff(a, b), "updates +-1 +4");
  expect_row(diff(a, b), "last held-out loss +- +[0-9.]+ .*");
}

TEST_F(DiffCases, WhatIsMissingIsNamed) {
  const std::string a = folder_.put("a.json", kTiny);
  const std::string none = (folder_.path() / "none").string();
  expect_refused(run_binary({"diff", a, none}), 3, {none, "No such file"});
  expect_refused(run_binary({"diff", folder_.path().string(), a}), 3, {"config.json"});
  folder_.put("config.json", kTiny);
  expect_refused(run_binary({"diff", a, folder_.path().string()}), 3, {"run.json"});
  expect_refused(run_binary({"diff", a}), 2, {"RUN_B is missing"});
  expect_refused(run_binary({"diff", a, a, a}), 2, {"unexpected argument"});
  expect_refused(run_binary({"diff", a, a, "--jsn"}), 2, {"unknown flag \"--jsn\"", "'--json'"});
  expect_refused(run_binary({"diff", a, folder_.put("b.json", "{\"sed\": 1}")}), 2,
                 {"b.json:1: sed: unknown key"});
}

}  // namespace headroom::diff_test
