// What must hold between fields. Each floor checks its own section; here is the order, and what
// spans sections.
#include <algorithm>

#include "baselines/baseline.h"
#include "config/run_config.h"
#include "core/error.h"
#include "core/numbers.h"
#include "core/spelling.h"
#include "model/model.h"
#include "tasks/task.h"
#include "train/evaluate.h"
#include "train/freeze.h"
#include "train/metrics.h"
#include "train/schedule.h"
#include "train/update.h"

namespace headroom {
namespace {

void validate_train(const TrainConfig& c) {
  // Each throws where it does not fit.
  items_per_part(c, c.batch);
  Schedule(c.schedule, c.optimizer.lr, c.steps);
}

void validate_eval(const EvalConfig& c, const Task& task) {
  choose_baselines(task.config().type, c.baselines, "eval.baselines: ");
  const Metric* metric = find_metric("eval.csv", c.best_metric);
  std::vector<std::string> usable;
  const auto offer = [&](const std::string& name) {
    const Metric* m = find_metric("eval.csv", name);
    if (m != nullptr && m->better != Better::kNeither) usable.push_back(name);
  };
  offer("loss");
  for (const std::string& name : task.metric_names()) offer(name);
  if (metric != nullptr && std::find(usable.begin(), usable.end(), c.best_metric) != usable.end())
    return;
  refuse("eval.best_metric = " + in_quotes(c.best_metric) +
         " is no metric of this task; expected one of " + join(usable) +
         did_you_mean(c.best_metric, usable));
}

void validate_model(const RunConfig& config, const Task& task) {
  const ModelConfig& c = config.model;
  const bool has_variance =
      c.norm.type == NormType::kLayerNorm || c.norm.type == NormType::kRmsNorm;
  if (has_variance && c.norm.eps && *c.norm.eps < kLeastEps) {
    refuse("model.norm.eps = " + real_text(*c.norm.eps) +
           " divides a row without variance by 0; model.norm.type = " +
           std::string(c.norm.type == NormType::kLayerNorm ? "layernorm" : "rmsnorm") +
           " needs 1e-30 or more");
  }
  const ModelIo io = model_io(task);
  resolve(c, io);
  if (c.attention.type == AttentionType::kHard && config.train.steps > 0) {
    refuse(
        "model.attention.type = hard has no gradient to train with; it is for evaluation and "
        "constructions: set train.steps = 0, or train with softmax");
  }
  if (!config.train.freeze.empty()) frozen_rows(parameter_table(c, io), config.train.freeze);
}

}  // namespace

bool is_safe_name(std::string_view name) {
  if (name.empty() || name.size() > 200 || name == "." || name == "..") return false;
  while (!name.empty()) {
    char32_t c = 0;
    const std::size_t n = utf8_length(name, c);
    if (n == 0) return false;
    name.remove_prefix(n);
    const bool ascii = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       c == '.' || c == '_' || c == '-';
    if (ascii) continue;
    // Beyond ASCII all but controls, spaces, separators, invisible marks, private use and
    // non-characters.
    const bool refused = c <= 0xA0 || c == 0xAD || c == 0x1680 || (c >= 0x2000 && c <= 0x206F) ||
                         c == 0x3000 || (c >= 0xE000 && c <= 0xF8FF) || c == 0xFEFF ||
                         (c >= 0xFFF0 && c <= 0xFFFF) || c >= 0xE0000;
    if (refused) return false;
  }
  return true;
}

void validate(const RunConfig& config) {
  if (!is_safe_name(config.name)) {
    refuse("name = " + in_quotes(config.name) +
           " cannot name a folder; take letters, digits, . _ and -, at most 200 bytes");
  }
  validate(config.task);
  const std::unique_ptr<Task> task = make_task(config.task);
  validate_model(config, *task);
  validate_train(config.train);
  validate_eval(config.eval, *task);
}

std::vector<std::string> warnings(const RunConfig& config) {
  std::vector<std::string> lines;
  const TaskConfig& task = config.task;
  if (task.type == TaskType::kNearestNeighbor && task.points_from == PointsFrom::kAntipodal &&
      task.query == QueryMode::kSelfFarthest) {
    lines.push_back(
        "task.points_from = antipodal with task.query = self_farthest is answered by -x: no "
        "attention needed");
  }
  return lines;
}

}  // namespace headroom
