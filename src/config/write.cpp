#include "config/write.h"

#include <algorithm>
#include <memory>

#include "core/hash.h"
#include "model/model.h"
#include "tasks/task.h"
#include "train/evaluate.h"
#include "train/schedule.h"

namespace headroom {

json::Value config_value(const RunConfig& config) {
  RunConfig copy = config;  // fields bind to what they may change
  Fields fields;
  copy.declare(fields);
  return write_fields(fields);
}

json::Value resolved_value(const RunConfig& config) {
  RunConfig c = config;
  const std::unique_ptr<Task> task = make_task(c.task);
  c.model = resolve(c.model, model_io(*task));
  c.seeds = {c.init_seed(), c.data_seed()};
  c.train.schedule.steps =
      Schedule(c.train.schedule, c.train.optimizer.lr, c.train.steps).horizon();
  if (!c.eval.batch) c.eval.batch = std::min(c.train.batch / c.train.accumulate, c.eval.items);
  return config_value(c);
}

std::string config_text(const RunConfig& config) {
  return json::write(config_value(config)) + "\n";
}

std::string config_hash(const RunConfig& config) {
  json::Value value = config_value(config);
  std::erase_if(*value.object(), [](const json::Member& member) { return member.first == "run"; });
  return short_hash(json::write(value, 0));
}

std::filesystem::path default_run_directory(const RunConfig& config) {
  return std::filesystem::path("runs") / (config.name + "-" + config_hash(config));
}

}  // namespace headroom
