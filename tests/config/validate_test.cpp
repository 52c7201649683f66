// Rules between fields.
#include <gtest/gtest.h>

#include <limits>

#include "config/read.h"
#include "config/run_config.h"
#include "config/write.h"
#include "core/expect_error.h"
#include "model/model.h"

namespace headroom::validate_test {

RunConfig with(const std::vector<std::string>& sets) {
  return read_run_config_text("{}", sets, "a.json");
}
void refused(const std::vector<std::string>& sets, std::initializer_list<std::string> parts) {
  SCOPED_TRACE(testing::PrintToString(sets));
  expect_error([&] { with(sets); }, parts);
}

TEST(ValidateTrain, WarmupMustEndBeforeTheHorizon) {
  refused({"train.steps=100", "train.schedule.warmup=100"}, {"train.schedule.warmup", "100"});
  refused({"train.steps=100", "train.schedule.warmup=101"}, {"train.schedule.warmup"});
  refused({"train.steps=100", "train.schedule.warmup=0.999"},
          {"train.schedule.warmup"});  // rounds to 100
  refused({"train.steps=100", "train.schedule.steps=50", "train.schedule.warmup=60"},
          {"train.schedule.warmup"});
  refused({"train.steps=100", "train.schedule.warmup=1.5"}, {"train.schedule.warmup", "1.5"});
  refused({"train.steps=10", "train.schedule.type=constant", "train.schedule.warmup=10"},
          {"train.schedule.warmup"});
  EXPECT_NO_THROW(with({"train.steps=100", "train.schedule.warmup=99"}));
  EXPECT_NO_THROW(with({"train.steps=10", "train.schedule.steps=200", "train.schedule.warmup=60"}));
}

TEST(ValidateTrain, FewStepsAreFine) {
  EXPECT_NO_THROW(with({"train.steps=0"}));
  EXPECT_NO_THROW(with({"train.steps=1"}));
  EXPECT_NO_THROW(with({"train.steps=0", "train.schedule.warmup=10"}));
  refused({"train.steps=-1"}, {"--set: train.steps: -1 is out of range"});
}

TEST(ValidateTrain, AccumulateDividesBatch) {
  EXPECT_NO_THROW(with({"train.batch=12", "train.accumulate=4"}));
  refused({"train.batch=10", "train.accumulate=4"}, {"train.accumulate = 4", "train.batch = 10"});
  refused({"train.batch=4", "train.accumulate=8"}, {"train.accumulate = 8", "train.batch = 4"});
}

TEST(ValidateTrain, ZerosAndEndsOfRanges) {
  for (const char* field :
       {"train.batch", "train.accumulate", "eval.items", "eval.every", "eval.batch",
        "eval.patience", "run.log_every", "run.checkpoint_every", "run.keep", "model.layers",
        "model.width", "model.attention.heads", "model.attention.key_size",
        "model.attention.value_size", "model.attention.copies", "task.points", "task.dim",
        "train.schedule.steps"}) {
    refused({std::string(field) + "=0"}, {std::string("--set: ") + field + ": 0 is out of range"});
  }
  EXPECT_NO_THROW(with({"model.ffn.width=0"}));
  refused({"train.optimizer.betas=[1,0.5]"}, {"train.optimizer.betas: 1 is out of range"});
  refused({"train.clip_norm=0"}, {"train.clip_norm: 0 is out of range"});
  refused({"train.clip_norm=-1"}, {"train.clip_norm: -1 is out of range"});
}

TEST(ValidateEval, BestMetricIsOneOfTheTasksMetrics) {
  EXPECT_NO_THROW(with({"eval.best_metric=loss"}));
  refused({"eval.best_metric=los"}, {"eval.best_metric = \"los\"", "'loss'?"});
  refused({"eval.best_metric=loss_sem"}, {"eval.best_metric = \"loss_sem\""});
  refused({"eval.best_metric=step"}, {"eval.best_metric = \"step\""});
}

TEST(ValidateTask, ImpossibleRetrieval) {
  refused({"task.points=1"}, {"task.points = 1", "2 or more"});
  EXPECT_NO_THROW(with({"task.points=1", "task.points_from=antipodal"}));  // x and -x
  refused({"task.dim=1", "model.width=1"}, {"task.dim = 1"});
  refused({"task.points_from=orthonormal", "task.points=17"},
          {"task.points = 17", "task.dim = 16"});
  refused({"task.points_from=orthonormal", "task.points=8"},
          {"orthonormal", "task.query = self_farthest"});
  refused({"task.points_from=orthonormal", "task.points=8", "task.query=self_nearest"},
          {"self_nearest"});
  refused({"task.queries=4"},
          {"--set: task.queries = 4", "task.query = separate", "task.query = self_farthest"});
  refused({"task.query=self_nearest", "task.queries=16"}, {"task.query = self_nearest"});
  refused({"task.query=separate", "task.queries=0"}, {"task.queries: 0 is out of range"});
  refused({"task.query=separate", "task.points_from=orthonormal", "task.points=17"},
          {"task.points = 17", "task.dim = 16"});
  refused({"task.noise=1"},
          {"task.noise: goes with task.type linear_regression or ", "not with nearest_neighbor"});
  refused({"task.type=linear_regression", "task.query=self_nearest"},
          {"task.query: goes with task.type nearest"});
}

TEST(ValidateModel, QueriesOfTheirOwnNeedAModelThatReadsThem) {
  refused({"task.query=separate"}, {"model.attention.kind = cross", "encoder_decoder"});
  refused({"model.attention.kind=cross"}, {"task.query = separate"});
  refused({"model.type=encoder_decoder"}, {"task.query = separate"});
  EXPECT_NO_THROW(with({"task.query=separate", "model.attention.kind=cross"}));
  EXPECT_NO_THROW(with({"task.query=separate", "task.queries=1", "model.type=encoder_decoder",
                        "task.points_from=orthonormal", "task.points=2"}));
}

TEST(ValidateTask, SeparateQueriesMayAskOrthonormalPoints) {
  TaskConfig task;
  task.query = QueryMode::kSeparate;
  EXPECT_EQ(query_tokens(task), 16u);
  task.queries = 3;
  task.points_from = PointsFrom::kOrthonormal;
  EXPECT_NO_THROW(validate(task));
  EXPECT_EQ(query_tokens(task), 3u);
  task.points = 1;
  task.points_from = PointsFrom::kSphere;
  EXPECT_NO_THROW(validate(task));
  task.query = QueryMode::kSelfFarthest;
  EXPECT_EQ(query_tokens(task), 0u);
}

TEST(ValidateTask, Curricula) {
  const std::vector<std::string> base{"task.type=linear_regression", "task.dim=20",
                                      "task.points=41"};
  const auto curriculum = [&](const std::string& json) {
    std::vector<std::string> sets = base;
    sets.push_back("task.curriculum=" + json);
    return sets;
  };
  const RunConfig c = with(curriculum(
      R"({"dims": {"start": 5, "end": 20, "step": 1, "every": 2000}, "points": {"start": 11, "end": 41, "step": 2, "every": 2000}})"));
  const Ramp& dims = *c.task.curriculum->dims;
  EXPECT_EQ(dims.at(1), 5u);
  EXPECT_EQ(dims.at(2000), 5u);
  EXPECT_EQ(dims.at(2001), 6u);
  EXPECT_EQ(dims.at(30000), 19u);
  EXPECT_EQ(dims.at(30001), 20u);
  EXPECT_EQ(dims.at(std::numeric_limits<std::size_t>::max()), 20u);
  EXPECT_EQ(c.task.curriculum->points->at(30001), 41u);
  EXPECT_EQ((Ramp{2, 9, 4, 1}).at(2), 6u);
  EXPECT_EQ((Ramp{2, 9, 4, 1}).at(3), 9u);  // not beyond the end
  EXPECT_EQ((Ramp{3, 3, 1, 1}).at(7), 3u);
  refused(curriculum(R"({"dims": {"start": 5, "end": 4}})"),
          {"task.curriculum.dims.end = 4", "start = 5"});
  refused(curriculum(R"({"dims": {"start": 5, "end": 21}})"),
          {"task.curriculum.dims.end = 21", "task.dim = 20"});
  refused(curriculum(R"({"points": {"start": 5, "end": 42}})"),
          {"task.curriculum.points.end = 42", "task.points = 41"});
  refused(curriculum(R"({"points": {"every": 0}})"),
          {"task.curriculum.points.every: 0 is out of range"});
}

TEST(ValidateTask, FieldsOfInContextTasks) {
  const std::string sparse = "task.type=sparse_linear_regression";
  refused({sparse, "task.sparsity=17"}, {"task.sparsity = 17", "task.dim = 16"});
  refused({sparse, R"(task.curriculum={"dims": {"start": 2, "end": 9}})"},
          {"task.sparsity = 3", "task.curriculum.dims.start = 2"});
  EXPECT_NO_THROW(with({sparse, "task.sparsity=16"}));
  refused({"task.type=linear_regression", "task.sparsity=2"},
          {"task.sparsity: goes with task.type sparse_linear_regression"});
  refused({"task.type=decision_tree", "task.depth=11"}, {"task.depth: 11 is out of range"});
  refused({"task.type=linear_classification", "task.noise=1"}, {"task.noise: goes with"});
  refused({"task.type=decision_tree", "task.pool=0"}, {"task.pool: 0 is out of range"});
  refused({"task.type=decision_tree", "task.input_range=0"}, {"task.input_range: 0 is out of"});
  refused({"task.type=linear_classification", "eval.best_metric=excess_loss"}, {"accuracy"});
  EXPECT_NO_THROW(with({"task.type=linear_classification", "eval.best_metric=accuracy"}));
  refused({"task.pool=3"}, {"task.pool: goes with task.type"});
}

TEST(ValidateModel, HeadsThatDoNotDivide) {
  refused(
      {"model.width=100", "model.attention.heads=3"},
      {"--set: model.attention.heads = 3", "model.width = 100", "1, 2, 4, 5, 10, 20, 25, 50, 100"});
  EXPECT_NO_THROW(with({"model.width=100", "model.attention.heads=3", "model.attention.key_size=7",
                        "model.attention.value_size=5"}));
  refused({"model.width=4", "model.attention.heads=8"},
          {"model.attention.heads = 8", "model.width = 4"});
}

TEST(ValidateModel, HeadsAsABudget) {
  const std::vector<std::string> base{"task.dim=64", "model.width=64",
                                      "model.attention.key_size=8"};
  const auto budget = [&](const std::string& item) {
    std::vector<std::string> sets = base;
    sets.push_back("model.attention.heads" + item);
    return sets;
  };
  for (const char* item : {R"(={"budget":"d^2.5"})", ".budget=d^2.5", R"(={"budget":32768})",
                           ".budget=32768", ".budget=3.2768e4"}) {
    const RunConfig c = with(budget(item));
    EXPECT_EQ(resolve(c.model, {64, 64, 16}).attention.heads, 64u) << item;
  }
  // config.json keeps what was asked for.
  const std::string text = config_text(with(budget(".budget=d^2.5")));
  EXPECT_NE(text.find("\"budget\": \"d^2.5\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"value_size\": null"), std::string::npos) << text;
  EXPECT_EQ(config_text(read_run_config_text(text)), text);
  // A later number takes the budget's place, and the reverse.
  EXPECT_EQ(std::get<std::size_t>(
                read_run_config_text(text, std::vector<std::string>{"model.attention.heads=2"})
                    .model.attention.heads.given),
            2u);

  refused(budget(".budget=d^2.6"), {"--set: model.attention.heads.budget: unknown name \"d^2.6\"",
                                    "d^2, d^2.5, d^3, or a number from 1", "'d^2"});
  refused(budget(R"(={"budget":"d^2,5"})"), {"unknown name \"d^2,5\"", "did you mean 'd^2.5'?"});
  refused(budget(R"(={"bugdet":"d^2"})"), {"model.attention.heads.bugdet", "'budget'?"});
  refused(budget("=d^2.5"), {"model.attention.heads: expected a whole number from 1 to 65536, or "
                             "an object { \"budget\": ... }"});
  refused(budget(".budget=0"), {"model.attention.heads.budget: 0 is out of range"});
  refused(budget(".budget=[1]"), {"model.attention.heads.budget: expected one of d^2"});
  refused({"model.attention.budget=d^2"}, {"did you mean", "'model.attention.heads.budget'"});
  refused({"model.attention.heads.budget=d^2"},
          {"--set: model.attention.heads.budget = d^2 = 256", "model.attention.key_size"});
  refused(budget(".budget=1000"), {"--set: model.attention.heads.budget = 1000", "1.95312 heads",
                                   "512 (1 head) or 1024 (2 heads)"});
}

TEST(ValidateModel, PlaceOfTheMistakeIsThatOfItsKey) {
  expect_error(
      [] {
        read_run_config_text(
            "{\"model\": {\n\"attention\": {\n\"key_size\": 3,\n\"heads\": "
            "{\n\"budget\": \"d^2\"}}}}",
            {}, "a.json");
      },
      {"a.json:5: model.attention.heads.budget = d^2 = 256"});
  expect_error(
      [] {
        read_run_config_text("{\"model\": {\n\"width\": 100,\n\"attention\": {\n\"heads\": 3}}}",
                             {}, "a.json");
      },
      {"a.json:4: model.attention.heads = 3"});
  expect_error(
      [] {
        read_run_config_text(
            "{\"train\":{\"schedule\":\n{\"type\":\"linear\"},\"steps\":1,\n\"accumulate\":5}}", {},
            "a.json");
      },
      {"a.json:3: train.accumulate = 5"});
}

TEST(ValidateModel, LayernormNeedsAnEpsilon) {
  refused({"model.norm.type=layernorm", "model.norm.eps=0"}, {"model.norm.eps = 0", "layernorm"});
  EXPECT_NO_THROW(with({"model.norm.type=l2", "model.norm.eps=0"}));
  refused({"model.norm.type=none", "model.norm.eps=0.1"},
          {"model.norm.eps: goes with model.norm.type"});
}

TEST(ValidateModel, RmsnormNeedsAnEpsilon) {
  refused({"model.norm.type=rmsnorm", "model.norm.eps=0"}, {"model.norm.eps", "rmsnorm"});
}

TEST(ValidateModel, VariantsThatDoNotGoTogether) {
  const char* separate = "task.query=separate";
  refused({"model.attention.kind=cross"},
          {"model.attention.kind = cross", "task.query = separate"});
  refused({"model.type=encoder_decoder"}, {"encoder_decoder", "task.query = separate"});
  refused({separate, "model.type=encoder_decoder", "model.attention.kind=cross"},
          {"encoder_decoder", "kind = cross"});
  refused({separate, "model.attention.kind=cross", "model.attention.mask=causal"},
          {"mask = causal"});
  for (const char* scheme : {"rotary", "alibi", "relative_bias"})
    refused({separate, "model.attention.kind=cross", std::string("model.positions.type=") + scheme},
            {std::string("model.positions.type = ") + scheme, "kind = cross"});
  refused({"model.positions.type=rotary", "model.attention.key_size=3"},
          {"rotary", "key_size = 3"});
  refused({"model.positions.type=rotary", "model.attention.score_map=full"},
          {"rotary", "score_map"});
  refused({"model.attention.score_map=full", "model.attention.qk_norm=l2"},
          {"score_map", "qk_norm"});
  refused({"model.attention.score_map=full", "model.attention.key_size=4"},
          {"score_map = full", "key_size", "not 4"});
  refused({"model.attention.value_map=full", "model.attention.heads=4",
           "model.attention.kv_heads=2", "model.attention.key_size=4"},
          {"value_map = full", "kv_heads = 2"});
  refused({"model.positions.type=concatenated"}, {"concatenated", "model.positions.width"});
  refused({"model.positions.type=concatenated", "model.positions.width=16"},
          {"positions.width = 16"});
  refused({"model.positions.width=4"}, {"model.positions.width"});
  refused({"model.attention.type=hard"}, {"model.attention.type = hard", "train.steps"});
  EXPECT_NO_THROW(with({"model.attention.type=hard", "train.steps=0"}));
  EXPECT_NO_THROW(with({"model.positions.type=concatenated", "model.width=24"}));
}

TEST(ValidateTrain, FreezeNamesParameters) {
  refused({"train.freeze=[\"layers.0.atention.query.weight\"]"},
          {"train.freeze", "matches no parameter", "layers.0.attention.query.weight"});
  EXPECT_NO_THROW(with({"train.freeze=[\"layers.*.ffn.*\"]"}));
}

TEST(Names, MustBeOneSafeComponent) {
  for (const char* good : {"run", "a.b", "..a", "A-1_b", "größe", "漢字", "-x"})
    EXPECT_TRUE(is_safe_name(good)) << good;
  for (const char* bad : {"", ".", "..", "a/b", "/a", "a b", "a\n", "a\\b", "a*", "a:b", "\xff",
                          "a\xC2\xA0"
                          "b",
                          "a\xE2\x80\x8B"
                          "b",
                          "$(x)"}) {
    EXPECT_FALSE(is_safe_name(bad)) << bad;
  }
  EXPECT_FALSE(is_safe_name(std::string("a\0b", 3)));
  EXPECT_TRUE(is_safe_name(std::string(200, 'a')));
  EXPECT_FALSE(is_safe_name(std::string(201, 'a')));
  refused({"name=../x"}, {"--set: name = \"../x\" cannot name a folder"});
}

TEST(Warnings, AntipodalFarthestIsTrivial) {
  EXPECT_TRUE(warnings(RunConfig{}).empty());
  const std::vector<std::string> lines = warnings(with({"task.points_from=antipodal"}));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("answered by -x"), std::string::npos);
  EXPECT_TRUE(warnings(with({"task.points_from=antipodal", "task.query=self_nearest"})).empty());
}

}  // namespace headroom::validate_test
