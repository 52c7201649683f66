#include "config/shorten.h"

#include <algorithm>

#include "model/budget.h"
#include "tasks/task.h"
#include "train/evaluate.h"
#include "train/schedule.h"

namespace headroom {

RunConfig shortened(const RunConfig& config, std::uint64_t steps, double step_flops) {
  RunConfig c = config;
  const std::unique_ptr<Task> task = make_task(config.task);
  const TaskShape shape = task->shape();
  const double flops = model_budget(config.model, model_io(*task)).step_flops_per_token *
                       static_cast<double>(shape.all_tokens());  // of an item
  const std::size_t part = config.train.batch / config.train.accumulate;
  const double fits = step_flops / (flops * static_cast<double>(config.train.accumulate));
  const std::size_t items =
      static_cast<std::size_t>(std::clamp(fits, 1.0, static_cast<double>(part)));

  c.train.steps = std::min(config.train.steps, steps);
  c.train.batch = items * config.train.accumulate;
  const Schedule schedule(config.train.schedule, config.train.optimizer.lr, config.train.steps);
  std::uint64_t horizon = c.train.steps;
  c.train.schedule.steps.reset();
  if (schedule.horizon() < config.train.steps) {
    horizon = std::max<std::uint64_t>(horizon * 2 / 3, 1);
    c.train.schedule.steps = horizon;
  }
  const std::uint64_t warmup = horizon < 2 ? 0 : std::min<std::uint64_t>(horizon - 1, 2);
  c.train.schedule.warmup = schedule.warmup() > 0 ? static_cast<double>(warmup) : 0;

  c.eval.every = std::min<std::uint64_t>(config.eval.every, 2);
  c.eval.items = std::min(config.eval.items, 2 * items + 1);  // batches, and a part of one
  if (c.eval.batch) c.eval.batch = std::min(*c.eval.batch, items);
  c.run.log_every = 2;
  c.run.checkpoint_every = 2;
  if (c.task.curriculum) {
    for (std::optional<Ramp>* const ramp : {&c.task.curriculum->dims, &c.task.curriculum->points}) {
      if (*ramp) (*ramp)->every = 2;
    }
  }
  return c;
}

}  // namespace headroom
