#include "config/read.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "config/write.h"
#include "core/expect_error.h"

namespace headroom::read_test {

namespace fs = std::filesystem;

RunConfig read(const std::string& text, const std::vector<std::string>& sets = {}) {
  return read_run_config_text(text, sets, "a.json");
}
void refused(const std::string& text, std::initializer_list<std::string> parts,
             const std::vector<std::string>& sets = {}) {
  SCOPED_TRACE(text);
  expect_error([&] { read(text, sets); }, parts);
}
void set_refused(const std::string& item, std::initializer_list<std::string> parts) {
  SCOPED_TRACE(item);
  expect_error([&] { read("{}", {item}); }, parts);
}

class ReadFiles : public testing::Test {
 protected:
  ReadFiles()
      : folder_(fs::path(testing::TempDir()) / ("config files ü " + std::to_string(::getpid()))) {
    fs::create_directories(folder_ / "sub");
  }
  ~ReadFiles() override { fs::remove_all(folder_); }
  std::string put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  fs::path folder_;
};

TEST(Read, EmptyObjectIsTheDefaultConfig) {
  EXPECT_EQ(config_text(read("{}")), config_text(RunConfig{}));
}

TEST(Read, SetsWhatTheFileSays) {
  const RunConfig c =
      read(R"({"name": "farthest", "seed": 18446744073709551615, "seeds": {"data": 3},
    "task": {"dim": 64}, "model": {"width": 64, "attention": {"heads": 8, "key_size": 8}},
    "train": {"steps": 1e3, "optimizer": {"lr": 1e-3, "betas": [0.9, 0.999]}, "clip_norm": 1}})");
  EXPECT_EQ(c.name, "farthest");
  EXPECT_EQ(c.init_seed(), 18446744073709551615u);
  EXPECT_EQ(c.data_seed(), 3u);
  EXPECT_EQ(c.model.attention.key_size, 8u);
  EXPECT_FALSE(c.model.attention.value_size);
  EXPECT_EQ(c.train.steps, 1000u);
  EXPECT_EQ(c.train.optimizer.betas[1], 0.999);
  EXPECT_EQ(c.train.clip_norm, 1.0);
}

TEST(Read, MistakesNameFileLinePathAndTheNearestName) {
  refused("{\n\"train\": {\n\"optimizer\": {\n\"learning_rte\": 1e-3}}}",
          {"a.json:4: train.optimizer.learning_rte: unknown key; did you mean 'lr'?"});
  refused("{\"modle\": {}}", {"a.json:1: modle: unknown key; did you mean 'model'?"});
  refused("{\"steps\": 5}", {"a.json:1: steps: unknown key", "'train.steps'"});
  refused("{\"learning_rte\": 5}", {"'train.optimizer.lr'"});
  refused("{\"model\": {\"n_heads\": 5}}", {"model.n_heads: ", "model.attention.heads"});
  refused("{\"train\": {\"optimizer\": {\"type\": \"adam\"}}}",
          {"train.optimizer.type: ", "\"adam\"", "'adamw'?"});
  refused("{\"train\": {\"steps\": 1.5}}", {"a.json:1: train.steps: 1.5 is not whole"});
  refused("{\"train\": {\"batch\": 18446744073709551616}}",
          {"train.batch: 18446744073709551616 is out of range"});
  refused("{\"train\": {\"batch\": 1,}}", {"a.json:1:23: "});
  refused("[]", {"a.json:1: expected an object", "a list"});
}

TEST(Set, ReadsJsonAndFallsBackToText) {
  EXPECT_EQ(read("{}", {"train.optimizer.lr=1e-5"}).train.optimizer.lr, 1e-5);
  EXPECT_EQ(read("{}", {"train.steps=1e3"}).train.steps, 1000u);
  EXPECT_FALSE(read("{}", {"model.bias=false"}).model.bias);
  EXPECT_EQ(read("{}", {"model.ffn.activation=gelu_tanh"}).model.ffn.activation,
            Activation::kGeluTanh);
  EXPECT_EQ(read("{}", {"train.optimizer.betas=[0.9,0.999]"}).train.optimizer.betas[1], 0.999);
  EXPECT_EQ(
      read("{}", {R"(train.schedule={"type": "constant", "warmup": 0})"}).train.schedule.warmup,
      0.0);
  set_refused("model.bias=False",
              {"--set: model.bias: expected true or false", "\"False\"", "'false'"});
  set_refused("train.steps=many", {"--set: train.steps: expected a whole number", "\"many\""});
  set_refused("train.steps=", {"train.steps: expected a whole number", "the text \"\""});
  set_refused("train.optimizer.betas=[0.9,",
              {"train.optimizer.betas: ", "\"[0.9,\" is no JSON", "ends before"});
}

TEST(Set, KeepsTextsWhole) {
  EXPECT_EQ(read("{}", {"name=5"}).name, "5");
  EXPECT_EQ(read("{}", {"name=true"}).name, "true");
  EXPECT_EQ(read("{}", {"name=1e3"}).name, "1e3");
  EXPECT_EQ(read("{}", {"name=größe-漢"}).name, "größe-漢");
  EXPECT_EQ(read("{}", {R"(name="quoted")"}).name, "quoted");
  // These are no folder names; the message shows that they arrived whole.
  for (const char* value : {"a=b=c", "50%@#x", "a b", " x", "a,b", "{x", "[a]", "'x'", "a//b"}) {
    set_refused(std::string("name=") + value,
                {std::string("name = \"") + value + "\" cannot name a folder"});
  }
}

TEST(Set, BeatsTheFileAndTheLastOfTwoWins) {
  const std::string text = R"({"seed": 1, "train": {"steps": 10, "batch": 3}})";
  EXPECT_EQ(read(text, {"train.steps=20"}).train.steps, 20u);
  EXPECT_EQ(read(text, {"train.steps=20", "train.steps=30"}).train.steps, 30u);
  EXPECT_EQ(read(text, {"train.steps=20"}).train.batch, 3u);
  EXPECT_EQ(read(text, {"train.steps=null"}).train.steps, RunConfig{}.train.steps);
  EXPECT_EQ(read(text, {"train=null"}).train.batch, RunConfig{}.train.batch);
  EXPECT_EQ(read(text, {"train=null", "train.batch=4"}).train.batch, 4u);
  EXPECT_EQ(read("{}", {"model.norm.eps=0.5", "model.norm.eps=null"}).model.norm.eps, std::nullopt);
}

TEST(Set, NamesTheMistake) {
  set_refused("train.optimizer.learning_rte=1",
              {"--set: train.optimizer.learning_rte: unknown key", "'lr'"});
  set_refused("train.optimzer.lr=1",
              {"--set: train.optimzer: unknown key; did you mean 'optimizer'?"});
  set_refused("train.optimizer.betas.0=0.5",
              {"--set: train.optimizer.betas.0: ", "set as a whole"});
  set_refused("train.steps.x=1",
              {"--set: train.steps.x: unknown key; train.steps takes a whole number"});
  set_refused("train.steps", {"--set: expected KEY=VALUE", "\"train.steps\""});
  set_refused("=5", {"--set: expected KEY=VALUE"});
  set_refused("", {"--set: expected KEY=VALUE"});
  set_refused("extends=b.json", {"--set: extends: unknown key"});
  set_refused("train.batch=0", {"--set: train.batch: 0 is out of range"});
  set_refused("train.optimizer.lr=-0.5", {"--set: train.optimizer.lr: -0.5 is out of range"});
  set_refused("name=\xff", {"--set: ", "UTF-8"});
  // A rule between fields is laid at the door of the item that broke it.
  refused("{\n\"train\": {\"batch\": 10}}",
          {"--set: train.accumulate = 3 does not divide train.batch = 10"}, {"train.accumulate=3"});
}

TEST(Set, ReachesIntoAbsentSections) {
  const RunConfig c = read("{}", {"task.type=linear_regression", "task.dim=20",
                                  "task.curriculum.dims.end=20", "task.curriculum.dims.start=5"});
  ASSERT_TRUE(c.task.curriculum && c.task.curriculum->dims);
  EXPECT_EQ(c.task.curriculum->dims->start, 5u);
  EXPECT_FALSE(c.task.curriculum->points);
}

TEST(Types, FieldsOfAnotherTypeAreErrorsButALaterTypeDropsThem) {
  refused(
      "{\"train\": {\"optimizer\": {\n\"momentum\": 0.9}}}",
      {"a.json:2: train.optimizer.momentum: goes with train.optimizer.type sgd, not with adamw"});
  const std::string adam = R"({"train": {"optimizer": {"type": "adamw", "betas": [0.5, 0.5]}}})";
  const RunConfig c = read(adam, {"train.optimizer.type=sgd", "train.optimizer.momentum=0.9"});
  EXPECT_EQ(c.train.optimizer.type, OptimizerType::kSgd);
  EXPECT_EQ(c.train.optimizer.betas, RunConfig{}.train.optimizer.betas);
  refused(adam, {"--set: train.optimizer.eps: goes with train.optimizer.type adamw, not with sgd"},
          {"train.optimizer.eps=1", "train.optimizer.type=sgd"});
}

TEST_F(ReadFiles, ExtendsMergesUnderThisFile) {
  put("base.json", R"({"seed": 1, "train": {"steps": 10, "batch": 3, "optimizer": {"lr": 0.5}}})");
  put("sub/other.json", R"({"extends": "../base.json", "train": {"batch": 4}})");
  put("third.json", R"({"seed": 9, "train": {"optimizer": {"lr": 0.25}}})");
  const RunConfig one =
      read_run_config(put("one.json", R"({"extends": "sub/other.json", "train": {"steps": 20}})"));
  EXPECT_EQ(one.seed, 1u);
  EXPECT_EQ(one.train.steps, 20u);
  EXPECT_EQ(one.train.batch, 4u);
  EXPECT_EQ(one.train.optimizer.lr, 0.5);
  const RunConfig list = read_run_config(
      put("list.json", R"({"extends": ["sub/other.json", "third.json"], "name": "x"})"));
  EXPECT_EQ(list.seed, 9u);  // the later wins
  EXPECT_EQ(list.train.batch, 4u);
  EXPECT_EQ(list.train.optimizer.lr, 0.25);
  // null in this file restores the default over the base.
  EXPECT_EQ(
      read_run_config(put("null.json", R"({"extends": "base.json", "train": {"steps": null}})"))
          .train.steps,
      RunConfig{}.train.steps);
  EXPECT_EQ(read_run_config(put("none.json", R"({"extends": null})")).train.steps,
            RunConfig{}.train.steps);
}

TEST_F(ReadFiles, ExtendsMistakesNameTheFile) {
  refused(R"({"extends": ["b.json", "a\u0007.json"]})",
          {R"(a.json:1: extends: "a\u0007.json" has a control character)"});
  const std::string base = put("base.json", "{\n\"train\": {\"stepz\": 5}}");
  const std::string top = put("top.json", R"({"extends": "base.json", "train": {"steps": 5}})");
  expect_error([&] { read_run_config(top); }, {"base.json:2: train.stepz: unknown key", "'steps'"});
  put("base.json", R"({"train": 5})");  // wrong by itself, though the other file would replace it
  expect_error([&] { read_run_config(top); }, {"base.json:1: train: expected an object"});
  put("base.json", "{,}");
  expect_error([&] { read_run_config(top); }, {"base.json:1:2: "});
  fs::remove(base);
  expect_error([&] { read_run_config(top); }, {"base.json", "extended by", "top.json"},
               Exit::kFile);
  expect_error([&] { read_run_config(put("bad.json", R"({"extends": 5})")); },
               {"bad.json:1: extends: expected a path"});
  expect_error([&] { read_run_config(put("bad.json", R"({"extends": [""]})")); },
               {"bad.json:1: extends: expected"});
  expect_error([&] { read_run_config(put("bad.json", R"({"train": {"extends": "x"}})")); },
               {"train.extends: unknown key"});
}

TEST_F(ReadFiles, ExtendsCyclesAndExplosionsAreErrors) {
  const std::string a = put("a.json", R"({"extends": "b.json"})");
  put("b.json", R"({"extends": "sub/../a.json"})");
  expect_error([&] { read_run_config(a); }, {"extends itself", "through other files"});
  expect_error([&] { read_run_config(put("self.json", R"({"extends": "./self.json"})")); },
               {"extends itself"});
  put("0.json", "{}");
  for (int i = 1; i < 40; ++i) {
    const std::string below = "\"" + std::to_string(i - 1) + ".json\"";
    put(std::to_string(i) + ".json", "{\"extends\": [" + below + ", " + below + "]}");
  }
  expect_error([&] { read_run_config((folder_ / "39.json").string()); }, {"more than 64 files"});
}

TEST_F(ReadFiles, MissingFileAndFolderAreFileErrors) {
  expect_error([&] { read_run_config((folder_ / "nö ne.json").string()); }, {"nö ne.json"},
               Exit::kFile);
  expect_error([&] { read_run_config(folder_.string()); }, {folder_.string()}, Exit::kFile);
}

struct Knobs {
  std::size_t count = 3;
  double weight = 0.5;
  std::string name = "a";
  void declare(Fields& f) {
    f.integer("count", count, {1, 9}, "How many.");
    f.real("weight", weight, {0, 1}, "How much.");
    f.text("name", name, "What.");
  }
};

TEST(ReadSettings, SetsTheFieldsOfAnyStructAsSetDoes) {
  Knobs knobs;
  Fields fields;
  knobs.declare(fields);
  const auto read = [&](std::vector<std::string> sets) { read_settings(fields, sets); };
  read({"count=2", "weight=0.25", "name=x=y", "count=4"});
  EXPECT_EQ(knobs.count, 4u);
  EXPECT_EQ(knobs.weight, 0.25);
  EXPECT_EQ(knobs.name, "x=y");
  read({"count=null"});
  EXPECT_EQ(knobs.count, 3u);
  expect_error([&] { read({"count=10"}); }, {"--set: count: 10 is out of range"});
  expect_error([&] { read({"weigth=1"}); }, {"--set: weigth: unknown key", "'weight'"});
  expect_error([&] { read({"weight"}); }, {"--set: expected KEY=VALUE"});
}

}  // namespace headroom::read_test
