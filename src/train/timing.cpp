#include "train/timing.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/arena.h"
#include "tasks/task.h"
#include "train/evaluate.h"
#include "train/update.h"

namespace headroom {

StepTiming time_steps(const TaskConfig& task_config, const ModelConfig& model_config,
                      const TrainConfig& config, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const std::unique_ptr<Task> task = make_task(task_config);
  const TaskShape shape = task->shape();
  const ModelIo io = model_io(*task);
  Model<float> model(model_config, io, config.batch / config.accumulate);
  init_params(model.table(), 0, model.params());
  Updater<float> updater(model, config, io, shape.token_stride, config.batch);
  const std::size_t n = config.batch;
  Arena<float> measure;
  take_batch(measure, shape, n);
  Arena<float> memory(measure.used());
  const Batch batch = take_batch(memory, shape, n);

  std::vector<double> times;
  const Clock::time_point start = Clock::now();
  for (std::uint64_t t = 1; times.size() < 1000 && (t <= 2 || since(start) < seconds); ++t) {
    const Clock::time_point begin = Clock::now();
    sample_batch(*task, 0, Purpose::kCheck, t, 0, task->final_stage(), batch);
    const double loss = updater.gradient(batch);
    updater.apply(t, loss, 1e-6);  // a rate at which nothing diverges
    if (t > 1) times.push_back(since(begin));
  }
  std::sort(times.begin(), times.end());
  StepTiming timing;
  timing.steps = times.size();
  timing.median_s = times[times.size() / 2];
  timing.min_s = times.front();
  timing.max_s = times.back();
  timing.tokens = static_cast<double>(n * (shape.tokens + shape.queries));
  const std::size_t moments = config.optimizer.type == OptimizerType::kAdamW ? 2 : 1;
  timing.memory_bytes = static_cast<double>(
      model.memory_bytes() + sizeof(float) * (moments * model.table().size() + memory.capacity()));
  return timing;
}

}  // namespace headroom
