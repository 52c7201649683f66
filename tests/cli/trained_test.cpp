// What training finds, seen by `inspect`: the quickstart's runs, whole. Slow.
#include <gtest/gtest.h>

#include <cstdlib>

#include "cli/patterns.h"
#include "cli/run_binary.h"

namespace headroom::trained_test {

// Of W_Q^T W_K of every head: {angle to the identity, effective rank}.
std::vector<std::pair<double, double>> heads_of(const std::string& config) {
  ScratchFolder folder("trained");
  const BinaryOptions at{.folder = folder.path()};
  const BinaryResult trained =
      run_binary({"train", std::string(HEADROOM_SCRIPTS) + "/../configs/quickstart/" + config,
                  "--set", "eval.items=64", "--out", "run", "--quiet"},
                 at);
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
  const std::string json = run_binary({"inspect", "run", "--json", "--items", "8"}, at).out;
  const std::string qk(
      "\"qk\": \\{[^}]*\"effective_rank\": ([0-9.]+),[^}]*\"angle_deg\": ([0-9.]+)");
  std::vector<std::pair<double, double>> heads;
  for (const auto& match : matches(json, qk))
    heads.emplace_back(std::atof(match[2].c_str()), std::atof(match[1].c_str()));
  return heads;
}

TEST(Trained, AFullRankHeadIsMinusTheIdentity) {
  const auto heads = heads_of("rank-16.json");
  ASSERT_EQ(heads.size(), 1u);
  EXPECT_GE(heads[0].first, 179);
  EXPECT_GT(heads[0].second, 15.5);
}

TEST(Trained, FourHeadsOfRankFourShareIt) {
  const auto heads = heads_of("rank-4.json");
  ASSERT_EQ(heads.size(), 4u);
  for (const auto& [angle, rank] : heads) {
    EXPECT_NEAR(angle, 120, 5);
    EXPECT_NEAR(rank, 4, .1);
  }
}

}  // namespace headroom::trained_test
