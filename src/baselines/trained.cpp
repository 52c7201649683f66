#include "baselines/trained.h"

#include <cmath>

namespace headroom {

std::optional<Reference> find_reference(TaskType task, std::span<const BaselineScore> scores) {
  const std::optional<BaselineChoice> choice = reference_baseline(task);
  if (!choice) return std::nullopt;
  for (const BaselineScore& score : scores) {
    if (score.name == choice->name()) return Reference{score.name, score.score.loss};
  }
  return std::nullopt;
}

bool not_trained(const Mean& loss, const Reference& reference) {
  const double noise = 2 * std::hypot(loss.sem, reference.loss.sem);
  // A single item has no standard error: then the losses alone are compared.
  return !(loss.mean < reference.loss.mean - (std::isfinite(noise) ? noise : 0));
}

}  // namespace headroom
