#include "train/timing.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/arena.h"
#include "core/phases.h"
#include "tasks/task.h"
#include "train/evaluate.h"
#include "train/update.h"

namespace headroom {

struct TrainingStep::Parts {
  std::unique_ptr<Task> task;
  TaskShape shape;
  std::size_t items;
  PrecisionInUse precision;
  Model<float> model;
  Updater<float> updater;
  OwnedBatch batch;
  std::size_t moments;

  Parts(const TaskConfig& task_config, const ModelConfig& model_config, const TrainConfig& config)
      : task(make_task(task_config)),
        shape(task->shape()),
        items(config.batch),
        precision(config.precision),
        model(model_config, model_io(*task), config.batch / config.accumulate),
        updater(model, config, model_io(*task), config.batch),
        moments(config.optimizer.type == OptimizerType::kAdamW ? 2 : 1) {
    batch.shape(shape, items);
    init_params(model.table(), 0, model.params());
  }
};

TrainingStep::TrainingStep(const TaskConfig& task, const ModelConfig& model,
                           const TrainConfig& config)
    : parts_(std::make_unique<Parts>(task, model, config)) {}
TrainingStep::~TrainingStep() = default;

void TrainingStep::run(std::uint64_t t) {
  Parts& p = *parts_;
  {
    const PhaseScope scope(Phase::kData);
    sample_batch(*p.task, 0, Purpose::kCheck, t, 0, p.task->final_stage(), p.batch.views);
  }
  const double loss = p.updater.gradient(p.batch.views);
  const PhaseScope scope(Phase::kOptimizer);
  p.updater.apply(t, loss, 1e-6);
}

double TrainingStep::tokens() const {
  return static_cast<double>(parts_->items * parts_->shape.all_tokens());
}

double TrainingStep::memory_bytes() const {
  return static_cast<double>(parts_->model.memory_bytes() +
                             sizeof(float) * (parts_->moments * parts_->model.table().size() +
                                              parts_->batch.memory.capacity()));
}

StepTiming time_steps(const TaskConfig& task, const ModelConfig& model, const TrainConfig& config,
                      double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  TrainingStep step(task, model, config);
  std::vector<double> times;
  const Clock::time_point start = Clock::now();
  for (std::uint64_t t = 1; times.size() < 1000 && (t <= 2 || since(start) < seconds); ++t) {
    const Clock::time_point begin = Clock::now();
    step.run(t);
    if (t > 1) times.push_back(since(begin));
  }
  std::sort(times.begin(), times.end());
  return {.steps = times.size(),
          .median_s = times[times.size() / 2],
          .min_s = times.front(),
          .max_s = times.back(),
          .tokens = step.tokens(),
          .memory_bytes = step.memory_bytes()};
}

}  // namespace headroom
