// Parameters of another run, through the real binary.
#include <gtest/gtest.h>

#include <string>

#include "cli/patterns.h"
#include "cli/run_binary.h"

namespace headroom::weights_test {

// One head of rank 4 and four of rank 1 have the same tensors.
TEST(Weights, OfAnotherModelAreNamed) {
  const ScratchFolder folder{"weights"};
  const std::string config = folder.put("config.json", R"({
    "task": {"dim": 4, "points": 4}, "model": {"width": 4, "ffn": {"width": 8}},
    "train": {"steps": 0, "batch": 8}, "eval": {"items": 16}})");
  const auto in_folder = [&](const char* name) { return (folder.path() / name).string(); };
  const std::string weights = in_folder("start/checkpoints/last.safetensors"),
                    differs = "model.attention.heads (1 there, 4 here)",
                    dump = in_folder("dump.safetensors");
  EXPECT_EQ(run_binary({"train", config, "--out", in_folder("start"), "--quiet"}).exit_code, 0);
  const auto with_four = [&](std::vector<std::string> args) {
    args.insert(args.begin() + 2, {"--set", "model.attention.heads=4"});
    return run_binary(args);
  };

  EXPECT_EQ(
      with_four({"train", config, "--out", in_folder("other"), "--init-from", weights}).exit_code,
      0);
  const std::string log = folder.read("other/log.txt");
  EXPECT_NE(log.find("warning: " + weights + ": was trained as another model: " + differs),
            std::string::npos)
      << log;

  EXPECT_EQ(run_binary({"step", config, "--load", weights, "--dump", dump}).exit_code, 0);
  expect_refused(with_four({"step", config, "--load", weights, "--dump", dump}), 5,
                 {weights, differs});
}

TEST(Weights, NoStepIsWrittenThatCouldNotBeRead) {
  const ScratchFolder folder{"many steps"};
  const std::string config = folder.put("config.json", R"({"task": {"dim": 4, "points": 4}})");
  expect_refused(run_binary({"step", config, "--steps", "1000000", "--dump",
                             (folder.path() / "dump.safetensors").string()}),
                 2, {"--steps 1000000", "at most"});
}

}  // namespace headroom::weights_test
