// `headroom bench` through the real binary.
#include <gtest/gtest.h>

#include "cli/run_binary.h"
#include "core/json.h"

namespace headroom::bench_test {

TEST(BenchCommand, PrintsWhatScriptsRead) {
  ScratchFolder folder("bench");
  const std::string config = folder.put(
      "a.json",
      R"({"task": {"dim": 4, "points": 4}, "model": {"width": 4}, "train": {"batch": 8}})");
  const BinaryResult r = run_binary({"bench", config, "--steps", "3", "--threads", "1", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const json::Value report = json::parse(r.out, "bench");
  for (const char* key :
       {"step_ms", "phases_ms", "tokens_per_s", "gflops", "roofline_gflops", "roofline_share",
        "peak_rss_mb", "threads", "precision", "allocations_per_step", "primitives_per_step"})
    EXPECT_NE(report.find(key), nullptr) << key;
  for (const char* key : {"median", "min", "max"})
    EXPECT_NE(report.find("step_ms")->find(key), nullptr) << key;
  for (const char* key :
       {"matmul", "attention", "norm", "activation", "loss", "optimizer", "data", "other"})
    EXPECT_NE(report.find("phases_ms")->find(key), nullptr) << key;
  const BinaryResult text = run_binary({"bench", config, "--steps", "1", "--threads", "1"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_NE(text.out.find("roofline"), std::string::npos);
}

// The config says auto; what is measured is what that chose here: bfloat16 where it is not refused.
TEST(BenchCommand, NamesThePrecisionThatAutoChose) {
  ScratchFolder folder("bench");
  const std::string config = folder.put(
      "a.json",
      R"({"task": {"dim": 4, "points": 4}, "model": {"width": 4}, "train": {"batch": 8}})");
  const auto precision = [&](const char* set) {
    return run_binary({"bench", config, "--set", set, "--steps", "1", "--threads", "1", "--json"});
  };
  const json::Value report = json::parse(precision("train.precision=auto").out, "bench");
  ASSERT_NE(report.find("precision"), nullptr);
  const BinaryResult asked = precision("train.precision=bfloat16");
  if (asked.exit_code == 0) {
    EXPECT_EQ(json::write(*report.find("precision"), 0), "\"bfloat16\"");
    return;
  }
  EXPECT_EQ(json::write(*report.find("precision"), 0), "\"float32\"");
  expect_refused(asked, 2, {"train.precision", "bfloat16", "AVX-512 BF16", "float32"});
}

TEST(BenchCommand, HardWeightsHaveNoStep) {
  ScratchFolder folder("bench");
  const std::string config =
      folder.put("a.json", R"({"model": {"attention": {"type": "hard"}}, "train": {"steps": 0}})");
  const BinaryResult r = run_binary({"bench", config});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_NE(r.err.find("hard"), std::string::npos) << r.err;
}

}  // namespace headroom::bench_test
