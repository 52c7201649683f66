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

// "" where nothing differs.
std::string other_model_text(const std::string& file, const std::vector<std::string>& differ) {
  return differ.empty() ? "" : file + ": was trained as another model: " + join(differ);
}

Schedule schedule_of(const RunConfig& c) {
  return {c.train.schedule, c.train.optimizer.lr, c.train.steps};
}

}  // namespace

void require_resumable(const RunConfig& run, const RunConfig& given, const std::string& folder) {
  const Schedule a = schedule_of(run), b = schedule_of(given);
  const bool constant = run.train.schedule.type == ScheduleType::kConstant &&
                        given.train.schedule.type == ScheduleType::kConstant;
  const bool same_rates = a.warmup() == b.warmup() && (constant || a.horizon() == b.horizon());
  const bool longer = given.train.steps > run.train.steps;
  const std::vector<std::string> texts = difference_texts(run, given, [&](const std::string& key) {
    if (key == "train.steps") return !(longer && same_rates);
    if (key == "train.schedule.steps" || key == "train.schedule.warmup") return !same_rates;
    return !key.starts_with("run.");
  });
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

std::string other_model(const RunConfig& trained, const RunConfig& config,
                        const std::string& file) {
  return other_model_text(file, difference_texts(trained, config, [](const std::string& key) {
                            return key.starts_with("model.") && key != "model.init" &&
                                   key != "model.init_layers" &&
                                   key != "model.attention.value_init";
                          }));
}

void require_same_model(const RunConfig& trained, const RunConfig& config,
                        const std::string& file) {
  const std::string text =
      other_model_text(file, difference_texts(trained, config, [](const std::string& key) {
                         return key.starts_with("task.") || key.starts_with("model.");
                       }));
  if (!text.empty()) throw Error(Exit::kCorrupt, text);
}

}  // namespace headroom
