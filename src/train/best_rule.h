// Which of two evaluations is the better one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tasks/score.h"
#include "tasks/task.h"

namespace headroom {

struct BestRule {
  std::string name;                   // of the metric that decides
  std::optional<std::size_t> metric;  // its place in Score::metrics; none: the loss
  bool higher = false;                // accuracy and the like; else the lowest is best

  double value(const Score& score) const;
  // Whether `value` beats `best` (nan: there is none yet). Of equals the earlier stays; what is not
  // finite never wins.
  bool beats(double value, double best) const;
};

// The rule for eval.best_metric. Throws Error(kUsage) for a metric that the task has not.
BestRule best_rule(const Task& task, const std::string& metric_name);

}  // namespace headroom
