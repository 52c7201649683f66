#include "config/resume.h"

#include <vector>

#include "config/compare.h"
#include "config/write.h"
#include "core/error.h"
#include "core/spelling.h"
#include "train/schedule.h"

namespace headroom {
namespace {

// "model.attention.heads (4 there, 1 here)".
std::string difference_text(const Difference& d) {
  const auto text = [](const json::Value* value) {
    return value == nullptr ? "none" : json::write(*value, 0);
  };
  return d.key + " (" + text(d.a) + " there, " + text(d.b) + " here)";
}

Schedule schedule_of(const RunConfig& c) {
  return {c.train.schedule, c.train.optimizer.lr, c.train.steps};
}

}  // namespace

void require_resumable(const RunConfig& run, const RunConfig& given, const std::string& folder) {
  const json::Value before = resolved_value(run), now = resolved_value(given);
  const Schedule a = schedule_of(run), b = schedule_of(given);
  const bool constant = run.train.schedule.type == ScheduleType::kConstant &&
                        given.train.schedule.type == ScheduleType::kConstant;
  const bool same_rates = a.warmup() == b.warmup() && (constant || a.horizon() == b.horizon());
  const bool longer = given.train.steps > run.train.steps;
  std::vector<std::string> texts;
  for (const Difference& d : differences(before, now)) {
    if (d.key.starts_with("run.")) continue;
    if (d.key == "train.steps" && longer && same_rates) continue;
    if ((d.key == "train.schedule.steps" || d.key == "train.schedule.warmup") && same_rates)
      continue;
    texts.push_back(difference_text(d));
  }
  if (texts.empty()) return;
  std::string message = folder +
                        ": --resume needs the config of that run, but for `run` and more "
                        "train.steps; these differ: " +
                        join(texts);
  if (longer && !same_rates) {
    message += constant ? "; train.schedule.warmup=" + std::to_string(a.warmup()) +
                              " keeps the length of the warm-up"
                        : "; more steps move the learning rates unless train.schedule.steps=" +
                              std::to_string(a.horizon()) + " keeps the horizon";
  }
  throw Error(Exit::kUsage, message);
}

namespace {

// Of the differing keys those that `counts` says.
template <class Counts>
std::vector<std::string> difference_texts(const RunConfig& a, const RunConfig& b,
                                          const Counts& counts) {
  const json::Value before = resolved_value(a), now = resolved_value(b);
  std::vector<std::string> texts;
  for (const Difference& d : differences(before, now))
    if (counts(d.key)) texts.push_back(difference_text(d));
  return texts;
}

}  // namespace

std::string model_differences(const RunConfig& trained, const RunConfig& config) {
  return join(difference_texts(trained, config, [](const std::string& key) {
    return key.starts_with("model.") && key != "model.init" && key != "model.init_layers" &&
           key != "model.attention.value_init";
  }));
}

void require_same_model(const RunConfig& trained, const RunConfig& config,
                        const std::string& file) {
  const std::vector<std::string> texts = difference_texts(
      trained, config,
      [](const std::string& key) { return key.starts_with("task.") || key.starts_with("model."); });
  if (texts.empty()) return;
  throw Error(Exit::kCorrupt, file + ": was trained as another model: " + join(texts));
}

}  // namespace headroom
