#include "config/sweep.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "config/read.h"
#include "config/write.h"
#include "core/expect_error.h"

namespace headroom::sweep_test {

namespace fs = std::filesystem;

Sweep expand(const std::string& text) { return read_sweep_text(text, "dir/my.json"); }
// With an empty inline base and these members; "axes" may be left out of neither.
Sweep with(const std::string& members) { return expand("{\"base\": {},\n" + members + "}"); }
void refused(const std::string& text, std::initializer_list<std::string> parts) {
  SCOPED_TRACE(text);
  expect_error([&] { expand(text); }, parts);
}
void with_refused(const std::string& members, std::initializer_list<std::string> parts) {
  refused("{\"base\": {},\n" + members + "}", parts);
}
using Texts = std::vector<std::string>;
// The --set items of every point, those of a point joined by a space.
Texts sets_of(const Sweep& sweep) {
  Texts out;
  for (const SweepPoint& point : sweep.points) {
    out.emplace_back();
    for (const std::string& item : point.sets) out.back() += (out.back().empty() ? "" : " ") + item;
  }
  return out;
}
Texts names_of(const Sweep& sweep) {
  Texts out;
  for (const SweepPoint& point : sweep.points) out.push_back(point.name);
  return out;
}
// The values that one axis takes.
Texts values_of(const std::string& key, const std::string& values) {
  Texts out = sets_of(with("\"axes\": [{\"" + key + "\": " + values + "}]"));
  for (std::string& item : out) item.erase(0, key.size() + 1);
  return out;
}

TEST(Sweep, LastAxisIsFastestAndZippedFieldsGoTogether) {
  const Sweep sweep = with(R"("axes": [
    {"zip": {"model.attention.heads": [16, 4], "model.attention.key_size": [1, 4]}},
    {"seed": [7, 3]}])");
  EXPECT_EQ(sets_of(sweep), (Texts{"model.attention.heads=16 model.attention.key_size=1 seed=7",
                                   "model.attention.heads=16 model.attention.key_size=1 seed=3",
                                   "model.attention.heads=4 model.attention.key_size=4 seed=7",
                                   "model.attention.heads=4 model.attention.key_size=4 seed=3"}));
  EXPECT_EQ(names_of(sweep).front(), "heads-16-key_size-1-seed-7");
  EXPECT_EQ(sweep.n_skipped, 0u);
  EXPECT_TRUE(sweep.notes.empty());
}

TEST(Sweep, EachPointIsTheConfigThatTrainWouldReadAndItsDirectoryHasItsHash) {
  const Sweep sweep =
      with(R"("axes": [{"train.optimizer.type": ["adamw", "sgd"]}, {"seed": [1, 2]}],
    "out": "runs/x")");
  ASSERT_EQ(sweep.points.size(), 4u);
  std::set<std::string> folders;
  for (const SweepPoint& point : sweep.points) {
    EXPECT_EQ(point.hash, config_hash(read_run_config_text("{}", point.sets)));
    EXPECT_EQ(point.out.string(), "runs/x/" + point.name + "-" + point.hash);
    folders.insert(point.out.string());
  }
  EXPECT_EQ(folders.size(), 4u);
}

TEST(Sweep, RangesEndExactly) {
  EXPECT_EQ(values_of("seed", R"({"from": 2, "to": 5})"), (Texts{"2", "3", "4", "5"}));
  EXPECT_EQ(values_of("seed", R"({"from": 2, "to": 0})"), (Texts{"2", "1", "0"}));
  EXPECT_EQ(values_of("seed", R"({"from": 18446744073709551613, "to": 18446744073709551615})"),
            (Texts{"18446744073709551613", "18446744073709551614", "18446744073709551615"}));
  EXPECT_EQ(values_of("train.steps", R"({"from": 100, "to": 1e3, "count": 4})"),
            (Texts{"100", "400", "700", "1000"}));
  EXPECT_EQ(values_of("train.steps", R"({"from": 64, "to": 1, "count": 4, "scale": "log"})"),
            (Texts{"64", "16", "4", "1"}));
  // No noise in the last digits: 0.1 + 2 * 0.1 is 0.30000000000000004.
  EXPECT_EQ(values_of("train.optimizer.weight_decay", R"({"from": 0.1, "to": 0.5, "count": 5})"),
            (Texts{"0.1", "0.2", "0.3", "0.4", "0.5"}));
  EXPECT_EQ(
      values_of("train.optimizer.lr", R"({"from": 1e-4, "to": 1e-2, "count": 5, "scale": "log"})"),
      (Texts{"1e-04", "0.000316227766017", "0.001", "0.00316227766017", "0.01"}));
  EXPECT_EQ(
      values_of("train.optimizer.lr",
                R"({"from": 0.123456789012345678, "to": 0.3, "count": 2, "scale": "linear"})"),
      (Texts{"0.12345678901234568", "0.3"}));
}

TEST(Sweep, ValuesReachTheReaderAsTheyAre) {
  EXPECT_EQ(values_of("train.optimizer.betas", "[[0.9, 0.95], [0.5, 0.5]]"),
            (Texts{"[0.9,0.95]", "[0.5,0.5]"}));
  EXPECT_EQ(values_of("train.clip_norm", "[null, 1.0]"), (Texts{"null", "1.0"}));
  // A text that --set would read as something else.
  EXPECT_EQ(values_of("name", R"(["a", "null", "8"])"), (Texts{"a", "\"null\"", "8"}));
  const Sweep sweep = with(R"("axes": [{"name": ["null"]}])");
  EXPECT_EQ(read_run_config_text("{}", sweep.points[0].sets).name, "null");
}

TEST(Sweep, SkipLeavesOutPointsWhereAllHolds) {
  const std::string axes = R"("axes": [{"model.attention.heads": [1, 2, 4]}, {"seed": [0, 1]}],)";
  const Sweep sweep = with(axes + R"("skip": [{"model.attention.heads": 4.0, "seed": 1},
    {"model.attention.heads": [1, 2], "seed": 0}, {"seed": 5}])");
  EXPECT_EQ(sets_of(sweep),
            (Texts{"model.attention.heads=1 seed=1", "model.attention.heads=2 seed=1",
                   "model.attention.heads=4 seed=0"}));
  EXPECT_EQ(sweep.n_skipped, 3u);
  EXPECT_EQ(sweep.notes, (Texts{"skip[2] leaves out no point"}));
  with_refused(axes + "\n\"skip\": [{\"model.attention.head\": 1}]",
               {"dir/my.json:3: skip[0]: \"model.attention.head\" is no axis of this sweep",
                "'model.attention.heads'?", "(axes: model.attention.heads, seed)"});
  with_refused(axes + "\n\"skip\": [{\"seed\": -1}]", {"dir/my.json:3: seed: -1 is out of range"});
  with_refused(axes + R"("skip": {"seed": 1})", {"skip: expected a list"});
  with_refused(axes + R"("skip": [{}])", {"skip[0]: expected"});
  with_refused(axes + R"("skip": [{"seed": [0, 1]}])", {"leaves out every point"});
}

TEST(Sweep, NamesTakeAnyFieldAndStaySafe) {
  const std::string axes = R"("axes": [{"train.optimizer.betas": [[0.9, 0.95]]}, {"seed": [3]},
      {"model.attention.heads": [4]}],)";
  EXPECT_EQ(names_of(with(axes + R"("name": "s{seed}-{train.steps}-{model.attention.key_size}")")),
            (Texts{"s3-" + std::to_string(RunConfig{}.train.steps) + "-" +
                   std::to_string(RunConfig{}.model.width / 4)}));
  EXPECT_EQ(names_of(with(axes + R"("name": "b{train.optimizer.betas}")")), (Texts{"b_0.9_0.95_"}));
  EXPECT_EQ(names_of(with(R"("axes": [{"model.width": [64]}, {"model.ffn.width": [8]}])")),
            (Texts{"model.width-64-model.ffn.width-8"}));
  const auto name_refused = [&](const std::string& name, std::initializer_list<std::string> parts) {
    with_refused(axes + "\n\"name\": " + name, parts);
  };
  name_refused(R"("{model.attention.headz}")",
               {"dir/my.json:4: name: model.attention.headz: unknown key", "'heads'"});
  name_refused(R"("a{seed")", {"dir/my.json:4: name: a brace without its partner"});
  name_refused(R"("a}seed")", {"name: a brace without its partner"});
  name_refused(R"("a/{seed}")", {"dir/my.json:4: name: \"a/3\" cannot name a folder"});
  name_refused("\"" + std::string(201, 'a') + "\"", {"cannot name a folder", "200"});
  name_refused(R"("")", {"name: expected a text"});
  name_refused("5", {"name: expected a text"});
  name_refused(R"("{train.optimizer.momentum}")",
               {"name: {train.optimizer.momentum} does not go with the point", "seed=3"});
}

TEST(Sweep, TwoPointsOfOneDirectoryAreAnError) {
  with_refused(
      R"("axes": [{"seed": [1, 2, 1]}])",
      {"dir/my.json: the point seed=1 and the point seed=1", "the same directory runs/my/"});
  // One name is no mistake while the configs differ.
  EXPECT_EQ(names_of(with(R"("axes": [{"seed": [1, 2]}], "name": "a")")), (Texts{"a", "a"}));
  // The run section does not count in the hash.
  with_refused(R"("axes": [{"run.keep": [1, 2]}], "name": "a")", {"run.keep=1", "run.keep=2"});
}

TEST(Sweep, AnImpossiblePointIsNamedOrLeftOut) {
  const std::string axes =
      R"("axes": [{"model.attention.heads": [3, 4]}, {"seed": [0, 1]}], "name": "h{seed}")";
  with_refused(axes, {"dir/my.json: the point model.attention.heads=3, seed=0: ", "divide",
                      "\"invalid\": \"skip\""});
  const Sweep sweep = with(axes + R"(, "invalid": "skip")");
  EXPECT_EQ(sets_of(sweep),
            (Texts{"model.attention.heads=4 seed=0", "model.attention.heads=4 seed=1"}));
  EXPECT_EQ(sweep.n_invalid, 2u);
  ASSERT_EQ(sweep.notes.size(), 1u);
  EXPECT_NE(sweep.notes[0].find("2 impossible points left out; the first, the point "
                                "model.attention.heads=3, seed=0: "),
            std::string::npos);
  // A mistake in the base itself is not left out with all its points.
  refused(R"({"base": {"train": {"stepz": 1}}, "axes": [{"seed": [0]}], "invalid": "skip"})",
          {"no point is possible", "train.stepz: unknown key"});
  with_refused(axes + ",\n\"invalid\": \"skpi\"", {"dir/my.json:3: invalid: expected", "'skip'?"});
}

TEST(Sweep, MistakesSayWhere) {
  refused("[]", {"dir/my.json:1: expected an object"});
  refused("{,}", {"dir/my.json:1:2: "});
  refused("{\n\"axis\": []}", {"dir/my.json:2: axis: unknown key; did you mean 'axes'?"});
  refused(R"({"axes": [{"seed": [0]}]})", {"dir/my.json:1: base: a sweep needs it"});
  refused("{\n\"base\": 5, \"axes\": [{\"seed\": [0]}]}",
          {"dir/my.json:2: base: expected the path"});
  refused("{\"base\": {\n\"train\": {\n\"stepz\": 5}}, \"axes\": [{\"seed\": [0]}]}",
          {"the point seed=0: dir/my.json:3: train.stepz: unknown key"});
  with_refused(R"("out": "x")", {"axes: a sweep needs it"});
  const auto axes_refused = [](const std::string& axes, std::initializer_list<std::string> parts) {
    with_refused("\"axes\": [{\"train.batch\": [64]},\n" + axes + "]", parts);
  };
  with_refused(R"("axes": [])", {"dir/my.json:2: axes: expected a list of at least one"});
  axes_refused(R"({"train.stepz": [1]})", {"dir/my.json:3: train.stepz: unknown key", "'steps'"});
  axes_refused(R"({"train.steps": [0, 1.5]})", {"dir/my.json:3: train.steps: 1.5 is not whole"});
  axes_refused(R"({"model.norm.type": ["l3"]})", {"dir/my.json:3: model.norm.type: unknown name"});
  axes_refused(R"({"seed": []})", {"dir/my.json:3: seed: the list of values is empty"});
  axes_refused(R"({"seed": 5})", {"dir/my.json:3: seed: expected a list of values, or a range"});
  axes_refused(R"({"seed": [1], "train.steps": [2]})", {"axes[1]: an axis has one key", "zip"});
  axes_refused(R"([])", {"axes[1]: expected { KEY: VALUES }"});
  axes_refused(R"({"zip": {"seed": [1, 2], "train.steps": [2]}})",
               {"dir/my.json:3: axes[1].zip: seed has 2 values and train.steps has 1"});
  axes_refused(R"({"zip": {}})", {"axes[1].zip: expected"});
  axes_refused(R"({"train.batch": [2]})",
               {"dir/my.json:3: axes[1]: train.batch a second time; the first is at line 2"});
  axes_refused(R"({"train": [{"batch": 2}]})",
               {"axes[1]: train and train.batch set the same field"});
  with_refused(R"("axes": [{"seed": [0]}], "out": 5)", {"out: expected a path"});
  with_refused(R"("axes": [{"seed": [0]}], "out": "a\nb")", {"out: ", "control character"});
  with_refused(
      R"("axes": [{"seed": {"from": 0, "to": 100}}, {"train.steps": {"from": 1, "to": 100}}])",
      {"axes: more than 10000 points"});
}

TEST(Sweep, NoListIsTooLongToRefuseAtOnce) {
  std::string zeros = "0";
  for (int i = 0; i < 10'000; ++i) zeros += ",0";
  with_refused("\"axes\": [{\"train.steps\": [" + zeros + "]}]",
               {"train.steps: more than 10000 values"});
  with_refused("\"axes\": [{\"seed\": [0, 1]}], \"skip\": [{\"seed\": [" + zeros + "]}]",
               {"skip: more than 10000 values"});
  // Each axis within its limit, their product not: said before the later ones are read.
  std::string axes;
  for (int i = 0; i < 40; ++i)
    axes += std::string(i == 0 ? "" : ",") + R"({"train.steps": {"from": 1, "to": 10000}})";
  with_refused("\"axes\": [{\"seed\": {\"from\": 1, \"to\": 10000}}," + axes + "]",
               {"axes: more than 10000 points"});
}

TEST(Sweep, RangeMistakesSayWhy) {
  const auto range_refused = [](const std::string& key, const std::string& range,
                                std::initializer_list<std::string> parts) {
    with_refused("\"axes\": [{\"" + key + "\": " + range + "}]", parts);
  };
  range_refused("seed", R"({"from": 1})", {"dir/my.json:2: seed: a range needs \"to\""});
  range_refused("seed", R"({"from": 1, "too": 2})", {"seed.too: unknown key; did you mean 'to'?"});
  range_refused("seed", R"({"from": 1, "to": "2"})", {"seed.to: expected a number"});
  range_refused("seed", R"({"from": -1, "to": 2})", {"seed.from: expected a whole number", "-1"});
  range_refused("seed", R"({"from": 1, "to": 1})", {"\"from\" and \"to\" are equal"});
  range_refused("seed", R"({"from": 0, "to": 1e6})", {"seed: more than 10000 values"});
  range_refused("seed", R"({"from": 0, "to": 5, "count": 3})", {"not whole"});
  range_refused("seed", R"({"from": 0, "to": 5, "count": 1})", {"seed.count: expected", "from 2"});
  range_refused("seed", R"({"from": 0, "to": 4, "count": 3, "scale": "log"})", {"above 0"});
  range_refused("seed", R"({"from": 1, "to": 5, "count": 3, "scale": "log"})",
                {"gives 2.2360679775, which is not whole"});
  range_refused("seed", R"({"from": 1, "to": 5, "scale": "log"})", {"needs \"count\""});
  range_refused("seed", R"({"from": 1, "to": 5, "count": 5, "scale": "lgo"})",
                {"seed.scale: expected", "'log'?"});
  range_refused("train.optimizer.lr", R"({"from": 0.1, "to": 1})",
                {"real numbers needs \"count\""});
  range_refused("train.optimizer.lr", R"({"from": 0, "to": 1, "count": 3, "scale": "log"})",
                {"train.optimizer.lr.from: a log scale needs it above 0"});
  range_refused("train.optimizer.lr", R"({"from": -1, "to": 1, "count": 3})",
                {"train.optimizer.lr: -1.0 is out of range"});
  range_refused("model.norm.type", R"({"from": 0, "to": 1})", {"a range is for numbers"});
}

TEST(Sweep, BaseIsRelativeToTheSweepAndAnInlineOneIsWrittenToOut) {
  const fs::path folder = fs::path(testing::TempDir()) / ("sweep ü " + std::to_string(::getpid()));
  fs::create_directories(folder / "sub");
  std::ofstream(folder / "base.json") << R"({"train": {"steps": 7, "schedule": {"warmup": 0}}})";
  const auto write = [&](const std::string& base) {
    std::ofstream(folder / "sub/s.json") << "{\"base\": " << base
                                         << ", \"axes\": [{\"seed\": [1]}], \"name\": "
                                            "\"n{train.steps}\", \"out\": \""
                                         << (folder / "runs").string() << "\"}";
    return read_sweep((folder / "sub/s.json").string());
  };
  const Sweep file = write("\"../base.json\"");
  EXPECT_EQ(file.base, (folder / "sub/../base.json").string());
  EXPECT_EQ(file.base_text, "");
  EXPECT_EQ(names_of(file), (Texts{"n7"}));
  const Sweep inlined = write(R"({"extends": ["../base.json"], "train": {"batch": 8}})");
  EXPECT_EQ(names_of(inlined), (Texts{"n7"}));
  EXPECT_EQ(fs::path(inlined.base).parent_path(), folder / "runs");
  // The file that stands for it gives the same config.
  fs::create_directories(folder / "runs");
  std::ofstream(inlined.base) << inlined.base_text;
  const RunConfig config = read_run_config(inlined.base, inlined.points[0].sets);
  EXPECT_EQ(config_hash(config), inlined.points[0].hash);
  EXPECT_EQ(config.train.steps, 7u);
  EXPECT_EQ(config.train.batch, 8u);
  fs::remove(folder / "base.json");
  expect_error([&] { write("\"../base.json\""); }, {"base.json"}, Exit::kFile);
  fs::remove_all(folder);
  expect_error([&] { read_sweep((folder / "s.json").string()); }, {"s.json"}, Exit::kFile);
}

TEST(Sweep, AnInlineBaseHasOneNameBeforeAndAfterOutExists) {
  const fs::path before = fs::current_path(),
                 folder = fs::path(testing::TempDir()) / ("sweep " + std::to_string(::getpid()));
  fs::create_directories(folder);
  fs::current_path(folder);
  std::ofstream("base.json") << "{}";
  std::ofstream("s.json") << R"({"base": {"extends": "base.json"}, "axes": [{"seed": [1]}],)"
                          << R"( "out": "new/runs"})";
  const Sweep first = read_sweep("s.json");
  fs::create_directories("new/runs");
  const Sweep second = read_sweep("s.json");
  fs::current_path(before);
  fs::remove_all(folder);
  EXPECT_EQ(first.base, second.base);
  EXPECT_EQ(first.base_text, second.base_text);
  EXPECT_NE(first.base_text.find("../../base.json"), std::string::npos) << first.base_text;
}

TEST(Sweep, TheExampleOfDescribeExpands) {
  std::string text = kSweepExample;
  const std::string base = "\"base.json\"";
  text.replace(text.find(base), base.size(), R"({"model": {"width": 16}, "task": {"dim": 16}})");
  // 3 x 3 x 5 without the 2 x 1 x 5 of "skip".
  EXPECT_EQ(expand(text).points.size(), 35u);
}

}  // namespace headroom::sweep_test
