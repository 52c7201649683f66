#include "config/write.h"

#include <gtest/gtest.h>

#include <set>

#include "config/read.h"

namespace headroom::write_test {

RunConfig with(const std::vector<std::string>& sets) { return read_run_config_text("{}", sets); }

TEST(ConfigText, ReadAgainGivesTheSameText) {
  for (const std::vector<std::string>& sets : std::vector<std::vector<std::string>>{
           {},
           {"seed=18446744073709551615", "seeds.init=9223372036854775808"},
           {"train.optimizer.type=sgd", "train.optimizer.momentum=0.1",
            "train.schedule.type=constant"},
           {"task.type=linear_regression", "task.dim=5", "task.points=11", "task.noise=0.3",
            "model.norm.type=layernorm", "model.norm.placement=pre", "model.positions.type=learned",
            "model.attention.mask=causal", R"(task.curriculum={"dims": {"start": 2, "end": 5}})"},
           {"train.optimizer.lr=1e-5", "train.clip_norm=0.1", "eval.patience=3", "name=größe"}}) {
    const RunConfig config = with(sets);
    const std::string text = config_text(config);
    const RunConfig again = read_run_config_text(text);
    EXPECT_EQ(config_text(again), text);
    EXPECT_EQ(config_hash(again), config_hash(config));
  }
}

TEST(ConfigText, KeepsNullsAndLeavesOutWhatDoesNotApply) {
  const std::string text = config_text(RunConfig{});
  EXPECT_NE(text.find("\"key_size\": null"), std::string::npos);
  EXPECT_NE(text.find("\"betas\": [0.9, 0.95]"), std::string::npos);
  EXPECT_NE(text.find("\"lr\": 0.01"), std::string::npos);
  EXPECT_EQ(text.find("momentum"), std::string::npos);
  EXPECT_EQ(text.find("noise"), std::string::npos);
  EXPECT_EQ(text.back(), '\n');
  const std::string sgd = config_text(with({"train.optimizer.type=sgd"}));
  EXPECT_NE(sgd.find("momentum"), std::string::npos);
  EXPECT_EQ(sgd.find("betas"), std::string::npos);
}

TEST(ResolvedValue, FillsInWhatTheConfigDerives) {
  const RunConfig config =
      with({"seed=7", "seeds.data=9", "train.steps=123", "train.batch=12", "train.accumulate=4",
            "model.attention.heads.budget=d^2.5", "model.attention.key_size=4", "eval.items=2"});
  const std::string text = json::write(resolved_value(config));
  for (const char* part : {"\"init\": 7", "\"data\": 9", "\"heads\": 16,", "\"value_size\": 4",
                           "\"kv_heads\": 16", "\"read_in\": \"identity\"", "\"batch\": 2,"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin:\n" << text;
  const json::Value value = resolved_value(config);
  EXPECT_EQ(json::write(*value.find("train")->find("schedule")->find("steps")), "123");
  // It is a config, and derives nothing further.
  EXPECT_EQ(json::write(resolved_value(read_run_config_text(text))), text);
  EXPECT_EQ(config_text(read_run_config_text(text)), text + "\n");
  // What means "none" stays null.
  EXPECT_TRUE(value.find("train")->find("clip_norm")->is_null());
}

TEST(ConfigHash, FollowsWhatChangesTheNumbers) {
  const std::string hash = config_hash(RunConfig{});
  EXPECT_EQ(hash.size(), 8u);
  EXPECT_EQ(hash.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(config_hash(with({"run.keep=5", "run.log_every=7"})), hash);
  EXPECT_NE(config_hash(with({"train.steps=7"})), hash);
  EXPECT_NE(config_hash(with({"name=other"})), hash);
  std::set<std::string> hashes;
  for (int seed = 0; seed < 32; ++seed)
    hashes.insert(config_hash(with({"seed=" + std::to_string(seed)})));
  EXPECT_EQ(hashes.size(), 32u);
  EXPECT_EQ(default_run_directory(RunConfig{}).string(), "runs/run-" + hash);
}

}  // namespace headroom::write_test
