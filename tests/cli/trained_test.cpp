// What training finds, seen by `inspect`: the quickstart's runs, whole. Slow.
#include <gtest/gtest.h>

#include <cmath>
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

// The first value of a key in a JSON text, from `at` on.
double number(const std::string& json, const std::string& key, std::size_t at = 0) {
  const std::string mark = '"' + key + "\": ";
  const std::size_t found = json.find(mark, at);
  EXPECT_NE(found, std::string::npos) << key;
  return found == std::string::npos ? NAN : std::atof(json.c_str() + found + mark.size());
}

// Von Oswald et al. 2023: a layer of linear attention does what one step of gradient descent does.
TEST(Trained, LinearAttentionIsAStepOfGradientDescent) {
  ScratchFolder folder("trained");
  const BinaryOptions at{.folder = folder.path()};
  const BinaryResult trained =
      run_binary({"train", std::string(HEADROOM_SCRIPTS) + "/../configs/paper/base/von-oswald.json",
                  "--set", "eval.items=64", "--out", "run", "--quiet"},
                 at);
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
  const std::string json = run_binary({"eval", "run", "--baselines", "gradient_descent_1", "--set",
                                       "eval.items=5120", "--json"},
                                      at)
                               .out;
  const double step = number(json, "loss", json.find("\"gradient_descent_1\""));
  EXPECT_NEAR(number(json, "loss") / step, 1, .02) << json;
}

// Layers alone that learn the nearest of two points stay above what theory allows.
TEST(Trained, NoLayerGetsBelowItsBound) {
  ScratchFolder folder("trained");
  const BinaryOptions at{.folder = folder.path()};
  for (const std::size_t dim : {5, 8})
    for (const auto& [heads, key_size] : {std::pair{8, 1}, {32, 1}, {4, 2}, {2, 4}}) {
      const auto set = [](const std::string& key, std::size_t value) {
        return key + "=" + std::to_string(value);
      };
      folder.put("layer.json",
                 R"({"task": {"points": 2, "points_from": "orthonormal", "query": "separate"},
                     "model": {"residual": false, "norm": {"type": "none"}, "ffn": {"width": 0},
                               "attention": {"kind": "cross"}},
                     "train": {"steps": 600, "batch": 64}, "eval": {"items": 2000, "every": 600}})");
      const BinaryResult trained = run_binary(
          {"train", "layer.json", "--set", set("task.dim", dim), "--set", set("model.width", dim),
           "--set", set("model.attention.heads", static_cast<std::size_t>(heads)), "--set",
           set("model.attention.key_size", static_cast<std::size_t>(key_size)), "--set",
           set("model.attention.value_size", dim), "--out", "run", "--force", "--quiet"},
          at);
      ASSERT_EQ(trained.exit_code, 0) << trained.err;
      const std::string json = run_binary({"eval", "run", "--json"}, at).out;
      const double loss = number(json, "loss"), bound = number(json, "bound");
      EXPECT_LT(loss, .45) << "not trained";
      EXPECT_GT(loss + 3 * number(json, "loss_sem"), bound)
          << heads << " heads of rank " << key_size << " in " << dim << " dimensions";
      EXPECT_TRUE(bound > 0 || dim < 8) << "nothing to stay above";
    }
}

}  // namespace headroom::trained_test
