#include "config/resume.h"

#include <set>
#include <utility>
#include <vector>

#include "config/write.h"
#include "core/error.h"
#include "core/spelling.h"
#include "train/schedule.h"

namespace headroom {
namespace {

struct Difference {
  std::string key, run, given;
};

std::string value_text(const json::Value* value) {
  return value == nullptr ? "none" : json::write(*value, 0);
}

// Leaves that differ, in the order of declaration, those that only `given` has last.
void compare(const json::Value* run, const json::Value* given, const std::string& path,
             std::vector<Difference>& found) {
  const auto object = [](const json::Value* v) { return v == nullptr ? nullptr : v->object(); };
  if (object(run) == nullptr && object(given) == nullptr) {
    if (value_text(run) != value_text(given)) {
      found.push_back({path, value_text(run), value_text(given)});
    }
    return;
  }
  std::set<std::string> seen;
  for (const json::Value* const side : {run, given}) {
    if (object(side) == nullptr) continue;
    for (const auto& [key, value] : *side->object()) {
      if (!seen.insert(key).second) continue;
      compare(object(run) == nullptr ? nullptr : run->find(key),
              object(given) == nullptr ? nullptr : given->find(key),
              path.empty() ? key : path + "." + key, found);
    }
  }
}

Schedule schedule_of(const RunConfig& c) {
  return {c.train.schedule, c.train.optimizer.lr, c.train.steps};
}

}  // namespace

void require_resumable(const RunConfig& run, const RunConfig& given, const std::string& folder) {
  json::Value before = resolved_value(run), now = resolved_value(given);
  for (json::Value* const value : {&before, &now}) {
    std::erase_if(*value->object(),
                  [](const json::Member& member) { return member.first == "run"; });
  }
  std::vector<Difference> found;
  compare(&before, &now, "", found);

  const Schedule a = schedule_of(run), b = schedule_of(given);
  const bool constant = run.train.schedule.type == ScheduleType::kConstant &&
                        given.train.schedule.type == ScheduleType::kConstant;
  const bool same_rates = a.warmup() == b.warmup() && (constant || a.horizon() == b.horizon());
  const bool longer = given.train.steps > run.train.steps;
  std::vector<std::string> texts;
  for (const Difference& d : found) {
    if (d.key == "train.steps" && longer && same_rates) continue;
    if ((d.key == "train.schedule.steps" || d.key == "train.schedule.warmup") && same_rates)
      continue;
    texts.push_back(d.key + " (" + d.run + " there, " + d.given + " here)");
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

void require_same_model(const RunConfig& trained, const RunConfig& config,
                        const std::string& file) {
  const json::Value before = resolved_value(trained), now = resolved_value(config);
  std::vector<Difference> found;
  for (const char* section : {"task", "model"})
    compare(before.find(section), now.find(section), section, found);
  if (found.empty()) return;
  std::vector<std::string> texts;
  for (const Difference& d : found)
    texts.push_back(d.key + " (" + d.run + " there, " + d.given + " here)");
  throw Error(Exit::kCorrupt, file + ": was trained as another model: " + join(texts));
}

}  // namespace headroom
