#include "train/loop.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <thread>

#include "loop_fixture.h"
#include "train/checkpoint_folder.h"
#include "train/evaluate.h"
#include "train/update.h"

namespace headroom::loop_stop_test {

using LoopStop = LoopTest;

TEST_F(LoopStop, NaNInTheInitialWeightsStopsTheRun) {
  train(small_job(folder / "run"));
  const safetensors::Archive archive(folder / "run/checkpoints/last.safetensors");
  std::vector<safetensors::Tensor> tensors;
  std::vector<float> bad;
  for (const safetensors::Tensor& t : archive.tensors()) {
    if (t.name.starts_with("optimizer.")) continue;
    tensors.push_back(t);
    if (!t.name.ends_with("value.weight")) continue;
    bad.resize(t.size());
    safetensors::copy_values(t, std::span<float>(bad));
    bad[1] = std::numeric_limits<float>::quiet_NaN();
    tensors.back() = safetensors::tensor<float>(t.name, t.shape, bad);
  }
  safetensors::write(folder / "nan.safetensors", tensors, {});
  for (const std::uint64_t every : {3, 0}) {
    TrainJob job = small_job(folder / ("nan" + std::to_string(every)));
    job.init_from = folder / "nan.safetensors";
    job.eval.every = every;
    const Error error = failure(job);
    EXPECT_EQ(error.code(), Exit::kDiverged);
    for (const char* word : {"step", "nan", "value.weight"}) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
    const json::Value record = run_json_of(job.out);
    EXPECT_EQ(number_of(*record.find("exit_code")), "4");
    EXPECT_EQ(text_of(*record.find("exit_reason")), error.what());
    EXPECT_NE(content_of(job.out / "log.txt").find(error.what()), std::string::npos);
    EXPECT_FALSE(fs::exists(job.out / "checkpoints/last.safetensors"));
  }
}

TEST_F(LoopStop, DivergenceStopsAtOnceAndTheNewestCheckpointIsSound) {
  TrainJob job = small_job(folder / "run");
  job.model.norm.type = NormType::kNone;
  job.train.steps = 1000;
  job.train.optimizer = {.type = OptimizerType::kSgd, .lr = 1e6};
  job.train.schedule = {.type = ScheduleType::kConstant, .warmup = 0, .floor = 0, .steps = {}};
  job.eval.every = 1000;
  job.run.checkpoint_every = 1;
  job.run.keep = 1;
  const Error error = failure(job);
  EXPECT_EQ(error.code(), Exit::kDiverged);
  const json::Value record = run_json_of(job.out);
  const auto steps = CheckpointFolder(job.out / "checkpoints", 1).steps();
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(number_of(*record.find("steps")), std::to_string(steps.back()));
  for (const auto& [name, values] : last_params(job.out)) {
    for (const double x : values) ASSERT_TRUE(std::isfinite(x)) << name;
  }
}

TEST_F(LoopStop, OneNaNInAGradientRefusesTheUpdate) {
  const TrainJob job = small_job(folder / "none");
  const std::unique_ptr<Task> task = make_task(job.task);
  const ModelIo io = model_io(*task);
  Model<float> model(resolve(job.model, io), io, 4);
  init_params(model.table(), 0, model.params());
  Updater<float> updater(model, job.train, io, 4);
  std::vector<float> input(4 * 5 * 4, 0.5f), target(4 * 5 * 4, 0.25f);
  input[0] = -1;
  Batch batch;
  batch.input = {input.data(), {4, 5, 4}};
  batch.target = {target.data(), {4, 5, 4}};
  const double loss = updater.gradient(batch);
  EXPECT_GT(updater.apply(1, loss, 0.01), 0);
  const std::vector<float> params(model.params().data, model.params().data + model.params().size());
  const std::vector<float> m(updater.optimizer().m().begin(), updater.optimizer().m().end());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const ParamRow& row : model.table().rows()) {
    for (const float bad : {nan, infinity, 1e20f}) {
      updater.gradient(batch);
      model.grads().data[row.offset + row.size - 1] = bad;
      try {
        updater.apply(17, loss, 0.01);
        ADD_FAILURE() << row.name;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Exit::kDiverged);
        const std::string message = error.what();
        EXPECT_NE(message.find("step 17"), std::string::npos) << message;
        EXPECT_NE(message.find(row.name), std::string::npos) << message;
      }
      EXPECT_EQ(std::memcmp(params.data(), model.params().data, params.size() * 4), 0);
      EXPECT_EQ(std::memcmp(m.data(), updater.optimizer().m().data(), m.size() * 4), 0);
    }
  }
  updater.gradient(batch);
  model.grads().data[0] = 1e19f;  // large, but a number whose square is one too
  EXPECT_NEAR(updater.apply(17, loss, 0.01) / 1e19, 1, 1e-6);
}

TEST_F(LoopStop, ASignalStopsWithACheckpoint) {
  struct Case {
    int signal;
    Exit exit;
  };
  for (const Case& c : {Case{SIGTERM, Exit::kStopped}, Case{SIGUSR1, Exit::kStopped},
                        Case{SIGINT, Exit::kInterrupted}}) {
    clear_stop_signal();
    TrainJob job = small_job(folder / signal_name(c.signal));
    job.train.steps = 100'000'000;
    job.run.checkpoint_every = 1'000'000;
    job.eval.every = 1'000'000;
    std::thread sender([&] {
      const fs::path csv = job.out / "train.csv";
      while (!fs::exists(csv) || fs::file_size(csv) < 200) std::this_thread::yield();
      std::raise(c.signal);
    });
    const TrainResult result = train(job);
    sender.join();
    EXPECT_EQ(result.exit, c.exit);
    EXPECT_EQ(result.reason, signal_name(c.signal));
    EXPECT_GT(result.steps, 0u);
    EXPECT_EQ(CheckpointFolder(job.out / "checkpoints", 1).steps().back(), result.steps);
    EXPECT_FALSE(last_params(job.out).empty());
    EXPECT_EQ(number_of(*run_json_of(job.out).find("exit_code")),
              std::to_string(static_cast<int>(c.exit)));
  }
}

TEST_F(LoopStop, ASignalInTheEvaluationLeavesItDue) {
  TrainJob job = small_job(folder / "run");
  job.eval.items = 100'000'000;
  std::thread sender([&] {
    const fs::path csv = job.out / "eval.csv";
    while (!fs::exists(csv)) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::raise(SIGTERM);
  });
  const TrainResult result = train(job);
  sender.join();
  EXPECT_EQ(result.exit, Exit::kStopped);
  EXPECT_EQ(result.steps, 0u);
  const safetensors::Archive archive(job.out / "checkpoints/last.safetensors");
  EXPECT_EQ(*archive.metadata("evaluated"), "0");
  EXPECT_EQ(rows_of(job.out / "eval.csv").size(), 1u);
}

TEST_F(LoopStop, ImpossibleJobsLeaveNothingBehind) {
  TrainJob job = small_job(folder / "run");
  job.train.accumulate = 5;
  EXPECT_EQ(failure(job).code(), Exit::kUsage);
  job = small_job(folder / "run");
  job.train.schedule.warmup = 7;
  EXPECT_EQ(failure(job).code(), Exit::kUsage);
  job = small_job(folder / "run");
  job.init_from = folder / "none.safetensors";
  EXPECT_EQ(failure(job).code(), Exit::kFile);
  job = small_job(folder / "run");
  put(folder / "text", "not weights at all");
  job.init_from = folder / "text";
  EXPECT_EQ(failure(job).code(), Exit::kCorrupt);
  EXPECT_FALSE(fs::exists(folder / "run"));
  train(small_job(folder / "run"));
  EXPECT_EQ(failure(small_job(folder / "run")).code(), Exit::kUsage);
}

}  // namespace headroom::loop_stop_test
