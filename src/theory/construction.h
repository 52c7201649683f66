// Models whose parameters are set by hand instead of trained: what a paper's theorem says can be
// done, as a run that `eval` and `inspect` take.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/fields.h"
#include "model/model_config.h"
#include "tasks/task_config.h"
#include "theory/hand_set.h"

namespace headroom {

// One construction with its settings.
class Construction {
 public:
  virtual ~Construction() = default;

  // Its settings, as --set and `describe` name them; the rows refer to this object.
  virtual void declare(Fields& f) = 0;

  // The task it solves and the model that does, of the settings as they stand. Throw Error(kUsage)
  // where the settings do not go together.
  virtual TaskConfig task() const = 0;
  virtual ModelConfig model() const = 0;
  virtual std::uint64_t seed() const = 0;

  // Sets every parameter of model(), on task(), by its name.
  virtual void set(HandSet& parameters) const = 0;

  // The loss by the row's formula; nothing where the formula is not about these settings.
  virtual std::optional<double> expected_loss() const = 0;
};

// The table of constructions (constructions.cpp).
struct ConstructionRow {
  const char* name;
  const char* sentence;  // what it is and what for, with its source
  const char* weights;   // how the parameters are set
  const char* formula;   // what loss to expect, and where that holds
  std::unique_ptr<Construction> (*make)();
};
std::span<const ConstructionRow> construction_rows();

}  // namespace headroom
