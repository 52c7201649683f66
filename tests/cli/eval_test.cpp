// `eval` through the real binary: shifts, and what theory says of a model.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "cli/patterns.h"
#include "cli/run_binary.h"
#include "core/json.h"

namespace headroom::eval_test {

constexpr const char* kTiny =
    R"({"task": {"type": "linear_regression", "dim": 4, "points": 9},
        "model": {"width": 8, "positions": {"type": "learned"}, "attention": {"mask": "causal"}, "ffn": {"width": 8}},
        "train": {"steps": 0, "batch": 8}, "eval": {"items": 60}})";

class Eval : public testing::Test {
 protected:
  BinaryResult run(const std::vector<std::string>& args) {
    return run_binary(args, {.folder = folder_.path()});
  }
  void train(const std::string& out, const std::vector<std::string>& sets = {}) {
    std::vector<std::string> args{"train", folder_.put("config.json", kTiny), "--out", out,
                                  "--quiet"};
    for (const std::string& item : sets) args.insert(args.end(), {"--set", item});
    const BinaryResult made = run(args);
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  json::Value eval_json(std::vector<std::string> args) {
    args.insert(args.begin(), "eval");
    args.push_back("--json");
    const BinaryResult result = run(args);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out, "eval --json");
  }
  static double number(const json::Value& value, const std::string& key) {
    return std::atof(std::get<json::Number>(value.find(key)->data).text.c_str());
  }
  ScratchFolder folder_{"eval ü"};
};

TEST_F(Eval, ShiftsStandInOneTableWithTheBaselines) {
  train("run");
  const BinaryResult text = run({"eval", "run", "--shift", "all"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  const std::size_t table = text.out.find("error under shifts");
  ASSERT_NE(table, std::string::npos) << text.out;
  const std::string shifts = text.out.substr(table);
  for (const char* row :
       {"none", "skewed_covariance", "half_subspace", "noisy_labels=1", "scale_x=2", "scale_w=2",
        "random_orthants", "opposite_orthants", "orthogonal_query", "seen_query"}) {
    EXPECT_TRUE(has_match(shifts, "\n" + std::string(row) + " +[0-9]+ +[0-9]")) << row << "\n"
                                                                                << shifts;
  }
  for (const char* column : {"model", "zero", "averaging", "nearest_3", "least_squares", "tree"})
    EXPECT_NE(shifts.find(column), std::string::npos) << column;
  // The learned table has 18 rows, 14 points take 28.
  EXPECT_NE(shifts.find("more_points=1.5: left out, its prompts of 28 tokens are longer than "
                        "model.positions.length = 18\n"),
            std::string::npos)
      << shifts;
  std::size_t from = 0;
  for (std::size_t end; (end = text.out.find('\n', from)) != std::string::npos; from = end + 1)
    EXPECT_LE(text.out.substr(from, 5) == "error" ? 0 : end - from, 120u);
  EXPECT_EQ(run({"eval", "run"}).out.find("shift"), std::string::npos);
}

TEST_F(Eval, ShiftsInJsonLeaveTheRestAsItIs) {
  train("run");
  const json::Value plain = eval_json({"run"}),
                    all = eval_json({"run", "--shift", "scale_x=3", "--shift", "all"});
  EXPECT_EQ(json::write(*plain.find("baselines")), json::write(*all.find("baselines")));
  EXPECT_EQ(json::write(*plain.find("positions")), json::write(*all.find("positions")));
  EXPECT_EQ(number(plain, "loss"), number(all, "loss"));
  EXPECT_EQ(json::write(*plain.find("shifts"), 0), "{}");
  const json::Value& shifts = *all.find("shifts");
  ASSERT_EQ(shifts.object()->size(), 11u);
  EXPECT_EQ(shifts.object()->front().first, "scale_x=3");
  EXPECT_NE(shifts.find("more_points=1.5")->find("left_out"), nullptr);
  const json::Value &scaled = *shifts.find("scale_x=3"), &seen = *shifts.find("seen_query");
  // Least squares and the zero predictor do not care for the scale of x: errors are relative.
  for (const char* name : {"zero", "least_squares"}) {
    const json::Value& after = *scaled.find("baselines")->find(name);
    const json::Value& before = *plain.find("baselines")->find(name);
    EXPECT_NEAR(number(after, "loss"), 9 * number(before, "loss"), 1e-3 * number(after, "loss"));
    for (std::size_t p = 0; p < 9; ++p)
      EXPECT_NEAR(number(after.find("positions")->array()->at(p), "error"),
                  number(before.find("positions")->array()->at(p), "error"), 1e-4);
  }
  EXPECT_NEAR(number(*seen.find("baselines")->find("least_squares"), "loss"), 0, 1e-8);
  EXPECT_EQ(number(seen.find("positions")->array()->front(), "position"), 1);
  EXPECT_EQ(number(seen.find("positions")->array()->back(), "position"), 8);
  EXPECT_NE(seen.find("loss_interval"), nullptr);
}

// A model that learned nothing scores itself: with batches of any size and any threads the same.
TEST_F(Eval, ShiftsDoNotDependOnBatchOrThreads) {
  train("run", {"model.positions.type=alibi"});
  const std::vector<std::string> shifts{"run", "--shift", "opposite_orthants", "--shift",
                                        "more_points"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> args = shifts;
    args.insert(args.end(), more.begin(), more.end());
    return json::write(*eval_json(args).find("shifts"));
  };
  const std::string one = with({"--threads", "1"});
  EXPECT_EQ(one, with({"--threads", "2"}));
  const json::Value whole = eval_json(shifts), batched = [&] {
    std::vector<std::string> args = shifts;
    args.insert(args.end(), {"--set", "eval.batch=7"});
    return eval_json(args);
  }();
  for (const char* name : {"opposite_orthants", "more_points=1.5"}) {
    const double loss = number(*whole.find("shifts")->find(name), "loss");
    EXPECT_NEAR(number(*batched.find("shifts")->find(name), "loss"), loss, 1e-5 * loss);
  }
  EXPECT_EQ(whole.find("shifts")->find("more_points=1.5")->find("positions")->array()->size(), 14u);
}

TEST_F(Eval, ShiftMistakesAreOneLine) {
  train("run");
  const auto refused = [&](const std::vector<std::string>& shift,
                           std::initializer_list<std::string> parts) {
    std::vector<std::string> args{"eval", "run"};
    for (const std::string& name : shift) args.insert(args.end(), {"--shift", name});
    expect_refused(run(args), 2, parts);
  };
  refused({"seen"}, {"unknown shift \"seen\"", "'seen_query'?"});
  refused({"all", "more_points=2"}, {"shift more_points=2", "36 tokens", "length = 18"});
  refused({"noisy_labels=-1"}, {"SIGMA", "above 0"});
  folder_.put("retrieval.json", R"({"task": {"dim": 4, "points": 4}, "model": {"width": 4},
      "train": {"steps": 0, "batch": 4}, "eval": {"items": 8}})");
  ASSERT_EQ(run({"train", "retrieval.json", "--out", "retrieval", "--quiet"}).exit_code, 0);
  expect_refused(run({"eval", "retrieval", "--shift", "all"}), 2,
                 {"shifts are of prompts in context", "nearest_neighbor has none"});
}

TEST_F(Eval, DescribeListsShiftsAndBounds) {
  const std::string shifts = run({"describe", "shifts"}).out;
  for (const char* part :
       {"`headroom eval --shift`", "  scale_x=FACTOR   (default 2; all in context)",
        "  noisy_labels=SIGMA   (default 1; all in context but linear_classification)",
        "  seen_query   (all in context)", "at most 5"})
    EXPECT_NE(shifts.find(part), std::string::npos) << part << "\n" << shifts;
  EXPECT_NE(run({"describe", "shifts", "--markdown"}).out.find("| `more_points=FACTOR` | 1.5 |"),
            std::string::npos);
  const std::string bounds = run({"describe", "bounds"}).out;
  for (const char* part : {"theorem_2: ", "Omega((dim / r)^(1 / eps))", "constants are not stated",
                           "norm_free_bound: ", "this project's own derivation", "applies to: "})
    EXPECT_NE(bounds.find(part), std::string::npos) << part << "\n" << bounds;
}

// science A.8: of one rank-1 head per dimension in 16 dimensions no model of two orthonormal points
// gets below .166; a full-rank head has no bound above 0.
TEST_F(Eval, BoundsStandWhereTheyApply) {
  const auto construct = [&](const std::string& name, const std::vector<std::string>& sets,
                             const std::string& out) {
    std::vector<std::string> args{"construct", name, "--out", out, "--quiet"};
    for (const std::string& item : sets) args.insert(args.end(), {"--set", item});
    const BinaryResult made = run(args);
    ASSERT_EQ(made.exit_code, 0) << made.err;
  };
  construct("weighted_random", {"dim=16", "heads=16"}, "votes");
  const BinaryResult text = run({"eval", "votes", "--set", "eval.items=500"});
  EXPECT_TRUE(has_match(text.out, "\nbound +0\\.16[56][0-9]\n")) << text.out;
  for (const char* part : {"theorem_2: for dim >= 5", "norm_free_bound: error >= "})
    EXPECT_NE(text.out.find(part), std::string::npos) << part << "\n" << text.out;
  const json::Value votes = eval_json({"votes", "--set", "eval.items=500"});
  EXPECT_NEAR(number(votes, "bound"), .166, .002);
  EXPECT_GT(number(votes, "loss") + 3 * number(votes, "loss_sem"), number(votes, "bound"));
  construct("full_rank", {"dim=16", "points=2", "points_from=orthonormal", "query=separate"},
            "full");
  EXPECT_EQ(number(eval_json({"full", "--set", "eval.items=100"}), "bound"), 0);
  construct("full_rank", {"dim=16", "points=3", "points_from=orthonormal", "query=separate"},
            "three");
  EXPECT_EQ(eval_json({"three", "--set", "eval.items=100"}).find("bound"), nullptr);
  EXPECT_EQ(run({"eval", "three", "--set", "eval.items=100"}).out.find("bound"), std::string::npos);
}

}  // namespace headroom::eval_test
