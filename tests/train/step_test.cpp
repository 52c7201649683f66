#include "train/step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "small_job.h"
#include "train/checkpoint_folder.h"
#include "train/safetensors.h"
#include "train/signals.h"

namespace headroom::step_test {

StepJob step_job(const TrainJob& job, const std::filesystem::path& dump) {
  StepJob step;
  step.task = job.task;
  step.model = job.model;
  step.train = job.train;
  step.init_seed = job.init_seed;
  step.data_seed = job.data_seed;
  step.config_text = job.config_text;
  step.dump = dump;
  return step;
}

std::vector<double> values(const safetensors::Archive& archive, const std::string& name) {
  const safetensors::Tensor* const t = archive.find(name);
  if (t == nullptr) {
    ADD_FAILURE() << name << " is missing";
    return {};
  }
  std::vector<double> v(t->size());
  safetensors::copy_values(*t, std::span<double>(v));
  return v;
}

TEST(Step, DumpsWhatOneUpdateComputed) {
  const TemporaryFolder folder;
  StepJob job = step_job(small_job("unused"), folder / "dump");
  const StepResult result = run_steps(job);
  const safetensors::Archive dump(folder / "dump");
  EXPECT_EQ(dump.find("batch.input")->shape, (std::vector<std::size_t>{32, 5, 4}));
  EXPECT_EQ(dump.find("batch.target")->shape, (std::vector<std::size_t>{32, 5, 4}));
  EXPECT_EQ(dump.find("output")->shape, (std::vector<std::size_t>{32, 5, 4}));
  EXPECT_EQ(dump.find("loss")->shape.size(), 0u);
  EXPECT_EQ(dump.find("loss")->type, safetensors::Type::kF32);

  // The loss is that of output and target.
  const auto output = values(dump, "output"), target = values(dump, "batch.target");
  double loss = 0;
  for (std::size_t i = 0; i < output.size(); ++i) loss += std::pow(output[i] - target[i], 2);
  EXPECT_NEAR(loss / (32 * 5), result.loss, 1e-6);

  // The first Adam update: rate * g / (|g| + eps), with the first warm-up rate.
  const double rate = 0.01 / 2;
  double squares = 0;
  for (const safetensors::Tensor& t : dump.tensors()) {
    if (!t.name.starts_with("param.")) continue;
    const std::string name = t.name.substr(6);
    const auto p = values(dump, t.name), g = values(dump, "grad." + name);
    const auto updated = values(dump, "updated." + name), m = values(dump, "optimizer.m." + name);
    const auto v = values(dump, "optimizer.v." + name);
    for (std::size_t i = 0; i < p.size(); ++i) {
      squares += g[i] * g[i];
      EXPECT_NEAR(m[i], 0.1 * g[i], 1e-6);
      EXPECT_NEAR(v[i], 0.05 * g[i] * g[i], 1e-6);
      EXPECT_NEAR(updated[i], p[i] - rate * g[i] / (std::abs(g[i]) + 1e-8), 1e-6) << name;
    }
  }
  EXPECT_NEAR(std::sqrt(squares), result.grad_norm, 1e-6);
}

TEST(Step, BothArithmeticsAgree) {
  const TemporaryFolder folder;
  for (const TrainJob& kind : {small_job(""), small_regression(""), small_cross("")}) {
    StepJob job = step_job(kind, folder / "single");
    job.train.accumulate = 4;
    run_steps(job);
    job.dump = folder / "double";
    job.float64 = true;
    run_steps(job);
    const safetensors::Archive single(folder / "single"), wide(folder / "double");
    ASSERT_EQ(single.tensors().size(), wide.tensors().size());
    for (const safetensors::Tensor& t : wide.tensors()) {
      EXPECT_EQ(t.type, safetensors::Type::kF64);
      if (t.name.starts_with("updated."))
        continue;  // Adam turns the rounding of tiny gradients into steps
      const auto a = values(single, t.name), b = values(wide, t.name);
      for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5) << t.name;
    }
  }
}

TEST(Step, ADumpLoadsAndGivesTheSameUpdate) {
  const TemporaryFolder folder;
  for (const TrainJob& kind : {small_regression(""), small_cross("")}) {
    StepJob job = step_job(kind, folder / "first");
    run_steps(job);
    job.load = folder / "first";
    job.init_seed = 99;  // both come from the file
    job.data_seed = 99;
    job.dump = folder / "second";
    run_steps(job);
    const safetensors::Archive first(folder / "first"), second(folder / "second");
    for (const safetensors::Tensor& t : first.tensors()) {
      ASSERT_NE(second.find(t.name), nullptr);
      EXPECT_EQ(t.bytes, second.find(t.name)->bytes) << t.name;
    }
  }
}

TEST(Step, DumpsTheQueriesOfATaskThatHasSome) {
  const TemporaryFolder folder;
  StepJob job = step_job(small_cross(""), folder / "dump");
  const StepResult result = run_steps(job);
  const safetensors::Archive dump(folder / "dump");
  EXPECT_EQ(dump.find("batch.input")->shape, (std::vector<std::size_t>{32, 5, 4}));
  EXPECT_EQ(dump.find("batch.query")->shape, (std::vector<std::size_t>{32, 3, 4}));
  EXPECT_EQ(dump.find("batch.target")->shape, (std::vector<std::size_t>{32, 3, 4}));
  EXPECT_EQ(dump.find("output")->shape, (std::vector<std::size_t>{32, 3, 4}));
  const auto output = values(dump, "output"), target = values(dump, "batch.target");
  double loss = 0;
  for (std::size_t i = 0; i < output.size(); ++i) loss += std::pow(output[i] - target[i], 2);
  EXPECT_NEAR(loss / (32 * 3), result.loss, 1e-6);

  // Another number of queries than the task's is no batch of it; fewer are one of an early stage.
  job.load = folder / "dump";
  job.dump = folder / "other";
  job.task.queries = 4;
  EXPECT_NEAR(run_steps(job).loss, result.loss, 1e-6);  // other slices: rounded otherwise
  job.task.queries = 2;
  EXPECT_THROW(run_steps(job), Error);
}

TEST(Step, FollowsTheTrainingLoopBitForBit) {
  clear_stop_signal();
  const TemporaryFolder folder;
  TrainJob job = small_regression(folder / "run");
  job.train.clip_norm = 0.5;
  job.train.optimizer.weight_decay = 0.1;
  train(job);
  const safetensors::Archive last(folder / "run/checkpoints" / checkpoint_name(7));
  const auto expect_last = [&](const char* file) {
    const safetensors::Archive dump(folder / file);
    for (const safetensors::Tensor& t : last.tensors()) {
      const std::string name = t.name.starts_with("optimizer.") ? t.name : "updated." + t.name;
      ASSERT_NE(dump.find(name), nullptr) << name;
      EXPECT_EQ(dump.find(name)->bytes, t.bytes) << name;
    }
  };
  StepJob step = step_job(job, folder / "seven");
  step.steps = 7;
  run_steps(step);
  expect_last("seven");
  EXPECT_NE(safetensors::Archive(folder / "seven").find("step.7.batch.input"), nullptr);

  step.load = folder / "run/checkpoints" / checkpoint_name(3);
  step.steps = 4;
  step.dump = folder / "four";
  EXPECT_EQ(run_steps(step).first_step, 4u);
  expect_last("four");
}

TEST(Step, RefusesABatchThatDoesNotFit) {
  const TemporaryFolder folder;
  StepJob job = step_job(small_job(""), folder / "dump");
  run_steps(job);
  job.load = folder / "dump";
  const auto code_of = [&] {
    try {
      run_steps(job);
    } catch (const Error& error) {
      return error.code();
    }
    return Exit::kDone;
  };
  job.dump = folder / "other";
  EXPECT_EQ(code_of(), Exit::kDone);
  job.task.points = 4;
  EXPECT_EQ(code_of(), Exit::kUsage);
  job = step_job(small_job(""), folder / "other");
  job.load = folder / "dump";
  job.model.ffn.width = 9;
  EXPECT_EQ(code_of(), Exit::kCorrupt);

  // Queries of their own that the dump does not hold, and such as the task does not ask.
  job = step_job(small_job(""), folder / "other");
  job.load = folder / "dump";
  job.task.query = QueryMode::kSeparate;
  EXPECT_EQ(code_of(), Exit::kUsage);
  const safetensors::Archive archive(folder / "dump");
  std::vector<safetensors::Tensor> tensors = archive.tensors();
  const std::vector<float> query(32 * 3 * 4, 0.5f);
  tensors.push_back(
      safetensors::tensor<float>("batch.query", {32, 3, 4}, std::span<const float>(query)));
  safetensors::write(folder / "asked", tensors, {});
  job = step_job(small_job(""), folder / "other");
  job.load = folder / "asked";
  EXPECT_EQ(code_of(), Exit::kUsage);

  // A double that no float holds.
  tensors = archive.tensors();
  std::vector<double> input = values(archive, "batch.input");
  input[3] = 0.1;
  for (safetensors::Tensor& t : tensors) {
    if (t.name == "batch.input") t = safetensors::tensor<double>(t.name, t.shape, input);
  }
  safetensors::write(folder / "inexact", tensors, {});
  job = step_job(small_job(""), folder / "other");
  job.load = folder / "inexact";
  EXPECT_EQ(code_of(), Exit::kUsage);
}

}  // namespace headroom::step_test
