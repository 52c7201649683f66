#include "train/loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/expect_error.h"
#include "core/parallel.h"
#include "loop_fixture.h"
#include "train/checkpoint_folder.h"
#include "train/evaluate.h"
#include "train/metrics.h"

namespace headroom::loop_test {

using Loop = LoopTest;

TEST_F(Loop, RowsEvaluationsAndCheckpointsAreWhereTheyShouldBe) {
  const TrainResult result = train(small_job(folder / "run"));
  EXPECT_EQ(result.exit, Exit::kDone);
  EXPECT_EQ(result.reason, "done");
  EXPECT_EQ(result.steps, 7u);
  const fs::path run = folder / "run";
  EXPECT_EQ(column(run / "train.csv", 0), (std::vector<std::string>{"step", "2", "4", "6", "7"}));
  EXPECT_EQ(column(run / "train.csv", 4),
            (std::vector<std::string>{"tokens", "320", "640", "960", "1120"}));
  EXPECT_EQ(column(run / "train.csv", 2)[1], "0.01");
  EXPECT_EQ(column(run / "eval.csv", 0), (std::vector<std::string>{"step", "0", "3", "6", "7"}));
  EXPECT_EQ(rows_of(run / "eval.csv")[0],
            (std::vector<std::string>{"step", "loss", "loss_sem", "accuracy"}));
  EXPECT_FALSE(fs::exists(run / "eval_positions.csv"));
  EXPECT_EQ(rows_of(run / "baselines.csv").at(1).at(1), "");  // no positions in this task
  EXPECT_EQ(CheckpointFolder(run / "checkpoints", 1).steps(),
            (std::vector<std::uint64_t>{0, 3, 6, 7}));
  EXPECT_EQ(fs::read_symlink(run / "checkpoints/last.safetensors"), checkpoint_name(7));
  ASSERT_TRUE(result.best);
  EXPECT_EQ(fs::read_symlink(run / "checkpoints/best.safetensors"),
            checkpoint_name(result.best->step));
  EXPECT_EQ(content_of(run / "config.json"), "{\"name\": \"small\"}\n");

  const json::Value record = run_json_of(run);
  EXPECT_EQ(text_of(*record.find("exit_reason")), "done");
  EXPECT_EQ(number_of(*record.find("exit_code")), "0");
  EXPECT_EQ(number_of(*record.find("steps")), "7");
  EXPECT_EQ(number_of(*record.find("budget")), "16");
  EXPECT_EQ(number_of(*record.find("best")->find("step")), std::to_string(result.best->step));
  EXPECT_EQ(text_of(record.find("command_line")->array()->at(2)), "a \"b\".json");
  EXPECT_EQ(number_of(*record.find("derived")->find("model")->find("attention")->find("key_size")),
            "2");
}

TEST_F(Loop, TheBestOfARunIsTheLowestAndItsFileHoldsThoseWeights) {
  TrainJob job = small_job(folder / "run");
  job.train.steps = 60;
  job.train.optimizer.lr = 0.3;  // unsteady
  job.train.schedule.type = ScheduleType::kConstant;
  job.run.keep = 1;
  const TrainResult result = train(job);
  const auto losses = column(folder / "run/eval.csv", 1),
             steps = column(folder / "run/eval.csv", 0);
  std::size_t lowest = 1;
  for (std::size_t i = 2; i < losses.size(); ++i) {
    if (std::stod(losses[i]) < std::stod(losses[lowest])) lowest = i;
  }
  ASSERT_LT(lowest, losses.size() - 1) << "the last is the best: the test shows nothing";
  EXPECT_EQ(std::to_string(result.best->step), steps[lowest]);
  EXPECT_EQ(result.best->value, std::stod(losses[lowest]));

  TrainJob again = small_job(folder / "again");
  again.init_from = folder / "run/checkpoints/best.safetensors";
  again.train.steps = 0;
  const TrainResult check = train(again);
  EXPECT_EQ(check.score->loss.mean, result.best->value);
}

TEST_F(Loop, WithoutEvaluationThereIsNoBest) {
  TrainJob job = small_job(folder / "run");
  job.eval.every = 0;
  train(job);
  EXPECT_TRUE(fs::exists(folder / "run/checkpoints/last.safetensors"));
  EXPECT_FALSE(fs::is_symlink(folder / "run/checkpoints/best.safetensors"));
  EXPECT_FALSE(fs::exists(folder / "run/eval.csv"));
  EXPECT_EQ(CheckpointFolder(folder / "run/checkpoints", 1).steps(),
            (std::vector<std::uint64_t>{3, 6, 7}));
}

TEST_F(Loop, NoStepsEvaluateAndSave) {
  TrainJob job = small_job(folder / "run");
  job.train.steps = 0;
  const TrainResult result = train(job);
  EXPECT_EQ(result.exit, Exit::kDone);
  EXPECT_EQ(column(folder / "run/eval.csv", 0), (std::vector<std::string>{"step", "0"}));
  EXPECT_EQ(column(folder / "run/train.csv", 0), (std::vector<std::string>{"step"}));
  EXPECT_EQ(CheckpointFolder(folder / "run/checkpoints", 1).steps(),
            (std::vector<std::uint64_t>{0}));
}

TEST_F(Loop, TheSameSeedGivesTheSameFilesWithAnyThreads) {
  const int before = threads();
  for (const auto make : {small_job, small_regression, small_cross}) {
    std::vector<std::string> names;
    const std::string kind = make == small_job ? "n" : make == small_cross ? "c" : "r";
    for (const int n : {1, 1, 3}) {
      set_threads(n);
      names.push_back("run" + std::to_string(names.size()) + kind);
      train(make(folder / names.back()));
    }
    for (std::size_t k = 1; k < names.size(); ++k) {
      const fs::path a = folder / names[0], b = folder / names[k];
      EXPECT_EQ(timeless(content_of(a / "train.csv")), timeless(content_of(b / "train.csv")));
      for (const char* file : {"config.json", "eval.csv", "eval_positions.csv", "baselines.csv"}) {
        ASSERT_EQ(fs::exists(a / file), fs::exists(b / file)) << file;
        if (fs::exists(a / file)) {
          EXPECT_EQ(content_of(a / file), content_of(b / file)) << file;
        }
      }
      for (const std::uint64_t step : CheckpointFolder(a / "checkpoints", 1).steps()) {
        const std::string name = "checkpoints/" + checkpoint_name(step);
        EXPECT_TRUE(content_of(a / name) == content_of(b / name)) << name;
      }
    }
  }
  set_threads(before);
}

TEST_F(Loop, SeedsMatterApart) {
  train(small_job(folder / "a"));
  TrainJob init = small_job(folder / "init"), data = small_job(folder / "data");
  init.init_seed = std::numeric_limits<std::uint64_t>::max();
  data.data_seed = 1;
  train(init);
  train(data);
  const auto evals = [&](const char* run) {
    return column(folder / (std::string(run) + "/eval.csv"), 1);
  };
  EXPECT_NE(evals("a")[1], evals("init")[1]);
  EXPECT_EQ(evals("a")[1], evals("data")[1]);
  EXPECT_NE(evals("a")[2], evals("data")[2]);
}

TEST_F(Loop, EvaluationDoesNotTouchTraining) {
  for (const bool regression : {false, true}) {
    std::string first;
    for (const std::uint64_t every : {1, 3, 100, 0}) {
      const fs::path out = folder / ("run" + std::to_string(every) + (regression ? "r" : "n"));
      TrainJob job = regression ? small_regression(out) : small_job(out);
      job.eval.every = every;
      train(job);
      const std::string rows = timeless(content_of(out / "train.csv"));
      if (first.empty()) first = rows;
      EXPECT_EQ(rows, first) << every;
    }
  }
}

TEST_F(Loop, AccumulationGivesTheSameUpdate) {
  for (const OptimizerType type : {OptimizerType::kSgd, OptimizerType::kAdamW}) {
    for (const double clip : {0.0, 0.05}) {
      std::vector<std::map<std::string, std::vector<double>>> results;
      for (const std::size_t parts : {1, 4, 8, 32}) {
        const std::string name = "run" + std::to_string(parts) + (clip > 0 ? "c" : "n") +
                                 (type == OptimizerType::kSgd ? "s" : "a");
        TrainJob job = small_job(folder / name);
        job.train.steps = 1;
        job.train.optimizer.type = type;
        job.train.optimizer.lr = 0.1;
        job.train.schedule.warmup = 0;
        job.train.schedule.type = ScheduleType::kConstant;
        if (clip > 0) job.train.clip_norm = clip;
        job.train.accumulate = parts;
        train(job);
        results.push_back(last_params(folder / name));
        const double norm = std::stod(column(folder / (name + "/train.csv"), 3)[1]);
        EXPECT_GT(norm, 0.05) << "clipping would not show";
      }
      for (std::size_t k = 1; k < results.size(); ++k) {
        for (const auto& [name, values] : results[0]) {
          // The key's bias moves all scores of a query alike: its gradient is rounding alone, which
          // Adam turns into whole steps.
          if (type == OptimizerType::kAdamW && name.ends_with("key.bias")) continue;
          for (std::size_t i = 0; i < values.size(); ++i) {
            EXPECT_NEAR(values[i], results[k][name][i], 1e-6) << name;
          }
        }
      }
    }
  }
}

TEST_F(Loop, ClippingBoundsTheUpdate) {
  TrainJob job = small_job(folder / "clipped");
  job.train.steps = 0;
  train(job);
  const auto before = last_params(folder / "clipped");
  job.out = folder / "one";
  job.train.steps = 1;
  job.train.optimizer = {.type = OptimizerType::kSgd, .lr = 1};
  job.train.schedule = {.type = ScheduleType::kConstant, .warmup = 0, .floor = 0, .steps = {}};
  job.train.clip_norm = 0.01;
  train(job);
  double squares = 0;
  for (const auto& [name, values] : last_params(folder / "one")) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      squares += std::pow(values[i] - before.at(name)[i], 2);
    }
  }
  EXPECT_NEAR(std::sqrt(squares), 0.01, 1e-6);
}

TEST_F(Loop, FrozenParametersStayAsTheyStart) {
  for (const OptimizerType type : {OptimizerType::kAdamW, OptimizerType::kSgd}) {
    const std::string run = type == OptimizerType::kAdamW ? "adamw" : "sgd";
    TrainJob job = small_job(folder / (run + "-start"));
    job.train.optimizer = {.type = type, .lr = 0.1, .momentum = 0.5, .weight_decay = 0.1};
    job.train.steps = 0;
    train(job);
    const auto before = last_params(folder / (run + "-start"));
    job.out = folder / run;
    job.train.steps = 5;
    job.train.freeze = {"layers.0.attention.*", "*.norm?.weight"};
    train(job);
    std::size_t frozen = 0;
    for (const auto& [name, values] : last_params(folder / run)) {
      const bool stays =
          name.find(".attention.") != std::string::npos || name.find(".norm") != std::string::npos;
      frozen += stays;
      if (stays)
        EXPECT_EQ(values, before.at(name)) << name;
      else
        EXPECT_NE(values, before.at(name)) << name;
    }
    EXPECT_EQ(frozen, 10u);
  }
}

TEST_F(Loop, AGlobThatMatchesNothingIsRefused) {
  TrainJob job = small_job(folder / "run");
  job.train.freeze = {"layers.0.atention.*"};
  expect_error([&] { train(job); },
               {"train.freeze", "layers.0.atention.*", "matches no parameter"});
}

TEST_F(Loop, TheEvaluationBatchDoesNotMatter) {
  for (const TrainJob& job : {small_regression(folder / "none"), small_cross(folder / "none")}) {
    const std::unique_ptr<Task> task = make_task(job.task);
    const ModelIo io = model_io(*task);
    Model<float> model(resolve(job.model, io), io, 1000, ModelUse::kAnswering);
    init_params(model.table(), 3, model.params());
    std::vector<double> losses;
    for (const std::size_t batch : {1, 7, 64, 1000}) {
      Evaluator evaluator(*task, 9, 1000, batch);
      const std::optional<Score> score = evaluator.run(model);
      ASSERT_TRUE(score);
      EXPECT_EQ(score->items, 1000u);
      losses.push_back(score->loss.mean);
    }
    for (const double loss : losses) EXPECT_NEAR(loss, losses[0], 1e-6);
  }
}

// Both kinds of model that read queries of their own learn to answer them: a full-rank head is all
// it takes.
TEST_F(Loop, QueriesOfTheirOwnAreLearnt) {
  for (const ModelType type : {ModelType::kEncoder, ModelType::kEncoderDecoder}) {
    TrainJob job = small_cross(folder / (type == ModelType::kEncoder ? "cross" : "decoder"));
    job.model.type = type;
    if (type == ModelType::kEncoderDecoder) job.model.attention.kind = AttentionKind::kSelf;
    job.model.attention.heads = 1;
    job.train.steps = job.eval.every = job.run.checkpoint_every = job.run.log_every = 300;
    const TrainResult result = train(job);
    ASSERT_TRUE(result.score);
    // The best linear map of query and points has .543 here.
    EXPECT_LT(result.score->loss.mean, 0.48) << job.out;
    EXPECT_EQ(column(job.out / "train.csv", 4).back(), std::to_string(300 * 32 * (5 + 3)));
  }
}

TEST_F(Loop, RegressionWritesPositionsBaselinesAndItsStage) {
  train(small_regression(folder / "run"));
  const auto header = rows_of(folder / "run/train.csv")[0];
  EXPECT_EQ(std::vector<std::string>(header.begin() + 6, header.end()),
            (std::vector<std::string>{"dims", "points"}));
  EXPECT_EQ(column(folder / "run/train.csv", 6),
            (std::vector<std::string>{"dims", "2", "3", "3", "3"}));
  EXPECT_EQ(column(folder / "run/train.csv", 7),
            (std::vector<std::string>{"points", "2", "3", "3", "4"}));
  // tokens 2 points: three updates at 2 points, three at 3, one at 4
  EXPECT_EQ(column(folder / "run/train.csv", 4).back(), std::to_string(32 * (3 * 4 + 3 * 6 + 8)));
  const auto positions = rows_of(folder / "run/eval_positions.csv");
  ASSERT_EQ(positions.size(), 1u + 4 * 4);
  EXPECT_EQ(positions[1][0] + positions[1][1] + positions[4][1] + positions[5][0], "0033");
  const auto baselines = rows_of(folder / "run/baselines.csv");
  ASSERT_GT(baselines.size(), 4u);
  EXPECT_EQ(baselines[0], (std::vector<std::string>{"baseline", "position", "error", "error_sem"}));
}

TEST_F(Loop, PatienceEndsTheRun) {
  TrainJob job = small_job(folder / "run");
  job.train.steps = 1000;
  job.train.optimizer.lr = 0;  // no evaluation is better than the first
  job.eval.patience = 2;
  const TrainResult result = train(job);
  EXPECT_EQ(result.exit, Exit::kDone);
  EXPECT_EQ(result.reason, "patience");
  EXPECT_EQ(result.steps, 6u);
  EXPECT_EQ(result.best->step, 0u);
  EXPECT_EQ(CheckpointFolder(folder / "run/checkpoints", 1).steps().back(), 6u);
}

TEST_F(Loop, BestFollowsTheMetricThatIsAskedFor) {
  TrainJob job = small_job(folder / "run");
  job.train.steps = 60;
  job.eval.best_metric = "accuracy";  // higher is better
  const TrainResult result = train(job);
  double highest = 0;
  const auto cells = column(folder / "run/eval.csv", 3);
  for (std::size_t i = 1; i < cells.size(); ++i) highest = std::max(highest, std::stod(cells[i]));
  EXPECT_EQ(result.best->value, highest);
  job.out = folder / "none";
  job.eval.best_metric = "acuracy";
  const Error error = failure(job);
  EXPECT_EQ(error.code(), Exit::kUsage);
  EXPECT_NE(std::string(error.what()).find("'accuracy'"), std::string::npos);
  EXPECT_FALSE(fs::exists(job.out));
}

TEST_F(Loop, EveryColumnOfEveryTaskHasItsRow) {
  for (const auto& type : kTaskTypes) {
    TaskConfig config;
    config.type = type.value;
    const std::unique_ptr<Task> task = make_task(config);
    for (const std::string& name : task->metric_names()) {
      EXPECT_NE(find_metric("eval.csv", name), nullptr) << name;
    }
    for (const std::string& name : task->train_columns()) {
      EXPECT_NE(find_metric("train.csv", name), nullptr) << name;
    }
  }
}

}  // namespace headroom::loop_test
