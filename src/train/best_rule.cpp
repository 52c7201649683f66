#include "train/best_rule.h"

#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/spelling.h"
#include "train/metrics.h"

namespace headroom {

double BestRule::value(const Score& score) const {
  return metric ? score.metrics[*metric].mean : score.loss.mean;
}

bool BestRule::beats(double value, double best) const {
  if (!std::isfinite(value)) return false;
  return std::isnan(best) || (higher ? value > best : value < best);
}

BestRule best_rule(const Task& task, const std::string& metric_name) {
  std::vector<std::string> names{"loss"};
  for (const std::string& metric : task.metric_names()) names.push_back(metric);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != metric_name) continue;
    const Metric* const row = find_metric("eval.csv", metric_name);
    BestRule rule{metric_name, std::nullopt, row != nullptr && row->better == Better::kHigher};
    if (i > 0) rule.metric = i - 1;
    return rule;
  }
  refuse("eval.best_metric: this task has no metric " + in_quotes(metric_name) +
         did_you_mean(metric_name, names) + " (it has " + join(names) + ")");
}

}  // namespace headroom
