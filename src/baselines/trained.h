// Whether a model has learned what needs learning (science E.6).
#pragma once

#include <span>
#include <string>

#include "baselines/baseline.h"

namespace headroom {

struct Reference {
  std::string name;  // of the baseline that a trained model has to beat
  Mean loss;
};

// That of the task's reference row among these scores; none where the task has none.
std::optional<Reference> find_reference(TaskType task, std::span<const BaselineScore> scores);

// True where the loss is not below the reference's by two standard errors of the difference, taken
// as independent, which items in common make an overestimate. Such a run is not trained, whatever
// its model could do.
bool not_trained(const Mean& loss, const Reference& reference);

}  // namespace headroom
