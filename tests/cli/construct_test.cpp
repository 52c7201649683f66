// Hand-set models through the real binary: what is written, and what is refused.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "cli/patterns.h"
#include "cli/run_binary.h"

namespace headroom::construct_test {

namespace fs = std::filesystem;

class Construct : public testing::Test {
 protected:
  BinaryResult construct(std::vector<std::string> args) {
    args.insert(args.begin(), "construct");
    return run_binary(args, {.folder = folder_.path()});
  }
  BinaryResult eval(const std::string& run, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"eval", run});
    return run_binary(more, {.folder = folder_.path()});
  }
  ScratchFolder folder_{"construct ü"};
};

TEST_F(Construct, WritesARunThatEvalTakes) {
  const BinaryResult made = construct({"talking_heads", "--set", "dim=16", "--set", "key_size=4",
                                       "--set", "points=8", "--set", "beta=100", "--out", "run"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_NE(made.out.find("on 5,120 held-out items; wrote run"), std::string::npos) << made.out;
  EXPECT_EQ(made.out.find("formula"), std::string::npos);
  for (const char* link : {"last.safetensors", "best.safetensors"}) {
    EXPECT_EQ(fs::read_symlink(folder_.path() / "run/checkpoints" / link),
              "step-000000000.safetensors");
  }
  const std::string config = folder_.read("run/config.json"), record = folder_.read("run/run.json");
  EXPECT_EQ(json_number(config, "steps"), 0);
  EXPECT_NE(config.find("\"name\": \"talking_heads\""), std::string::npos);
  EXPECT_NE(record.find("\"exit_reason\": \"done\""), std::string::npos);
  EXPECT_EQ(json_number(record, "budget"), 16 * 16);
  EXPECT_EQ(json_number(record, "parameters"), 4 * 16 * 16 + 4 * 4);
  EXPECT_EQ(json_number(record, "key_size"), 4);
  EXPECT_NE(record.find("\"command_line\": [\"headroom\", \"construct\", \"talking_heads\""),
            std::string::npos);

  const BinaryResult evaluated = eval("run", {"--json", "--checkpoint", "best"});
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_DOUBLE_EQ(json_number(evaluated.out, "loss"), std::atof(made.out.substr(5).c_str()));
  EXPECT_LT(json_number(evaluated.out, "loss"), .05);
  EXPECT_EQ(json_number(evaluated.out, "expected_loss"), -1) << "no formula, nothing said";

  // The config is a config: training may begin from the construction.
  const BinaryResult trained = run_binary(
      {"train", "run/config.json", "--set", "train.steps=1", "--set", "train.batch=8", "--set",
       "eval.items=8", "--init-from", "run/checkpoints/last.safetensors", "--out", "trained"},
      {.folder = folder_.path()});
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
}

TEST_F(Construct, PrintsTheFormulaWhereThereIsOne) {
  const BinaryResult made =
      construct({"full_rank", "--set", "query=separate", "--set", "points_from=orthonormal",
                 "--set", "points=2", "--set", "beta=100", "--out", "pair"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_NE(made.out.find("\nformula 0.01723"), std::string::npos) << made.out;
  const BinaryResult json = eval("pair", {"--json"});
  EXPECT_NEAR(json_number(json.out, "expected_loss"), .01723, 1e-5);
  EXPECT_NEAR(json_number(json.out, "loss"), .01723, 3 * json_number(json.out, "loss_sem"));
  const std::vector<std::string> few{"--set", "eval.items=16"};
  EXPECT_NE(eval("pair", few).out.find("\nformula "), std::string::npos);
  // A run without a readable record is still a run.
  folder_.put("pair/run.json", "{");
  const BinaryResult bare = eval("pair", few);
  EXPECT_EQ(bare.exit_code, 0) << bare.err;
  EXPECT_EQ(bare.out.find("formula"), std::string::npos);
}

TEST_F(Construct, NeverReplacesARunUnlessAsked) {
  const std::vector<std::string> base{"full_rank", "--set", "dim=4", "--quiet", "--out", "run"};
  const BinaryResult first = construct(base);
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out + first.err, "");
  const std::string before = folder_.read("run/run.json");
  expect_refused(construct(base), 2, {"run", "--force", "--out"});
  EXPECT_EQ(folder_.read("run/run.json"), before);
  std::vector<std::string> again = base;
  again.push_back("--force");
  EXPECT_EQ(construct(again).exit_code, 0);
  EXPECT_EQ(folder_.read("run.old-1/run.json"), before);
  expect_refused(construct({"full_rank", "--out", "no/such/parent"}), 3, {"no/such"});
}

TEST_F(Construct, MistakesNameTheNearest) {
  const auto refused = [&](std::vector<std::string> args,
                           std::initializer_list<std::string> parts) {
    args.insert(args.end(), {"--out", "x"});
    expect_refused(construct(args), 2, parts);
    EXPECT_FALSE(fs::exists(folder_.path() / "x"));
  };
  refused({"full_rnk"}, {"unknown construction \"full_rnk\"", "'full_rank'?", "talking_heads"});
  refused({"talking_heads", "--set", "keysize=4"}, {"no setting \"keysize\"", "'key_size'?"});
  refused({"full_rank", "--set", "heads=4"},
          {"full_rank has no setting \"heads\"", "(settings: dim, points"});
  refused({"full_rank", "--set", "beta=-1"}, {"beta: -1 is out of range"});
  refused({"full_rank", "--set", "dim=1"}, {"dim: 1 is out of range"});
  refused({"full_rank", "--set", "dim"}, {"KEY=VALUE"});
  refused({"talking_heads", "--set", "key_size=7"}, {"key_size = 7", "dim = 64"});
  refused({"full_rank", "--sets", "a=1"}, {"unknown flag \"--sets\"", "'--set'"});
  refused({}, {"NAME is missing"});
  expect_refused(construct({"full_rank"}), 2, {"--out"});
}

}  // namespace headroom::construct_test
