// What `headroom eval` prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baselines/trained.h"
#include "tasks/score.h"
#include "tasks/task.h"
#include "theory/bounds.h"
#include "train/evaluate_shifts.h"

namespace headroom {

struct EvalReport {
  const Task& task;
  Score model;
  std::vector<BaselineScore> baselines;
  std::optional<Reference> reference;   // that the model has to beat
  bool constructed = false;             // set by hand: there was no training to judge
  std::optional<double> expected_loss;  // what theory says of a constructed model
  std::optional<BoundedLayer> bounded;  // where theory says what every such model loses at least
  std::vector<ShiftScore> shifts = {};
};

// Both end in a newline. Errors stand with their standard error over items and, of the loss in
// text and of everything in JSON, their 90 % bootstrap interval where the scores have one.
std::string eval_as_text(const EvalReport& report);
std::string eval_as_json(const EvalReport& report);

}  // namespace headroom
