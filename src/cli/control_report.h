// `check --control`: the plain config of as many parameters, as text to paste and as JSON.
#pragma once

#include <string>
#include <vector>

#include "config/run_config.h"
#include "core/json.h"
#include "model/budget.h"
#include "model/control.h"

namespace headroom {

struct ControlReport {
  std::string by;  // "heads" or "ffn"
  RunConfig original;
  Budget budget;  // of the original
  ModelIo io;
  ControlSearch search;

  ControlReport(const RunConfig& config, const ModelIo& io, const std::string& by);
  std::string text() const;  // ends with a newline
  json::Value value() const;
  // "no plain config within 1 % ...": the line of Error(kCheckFailed) where match() is nullptr.
  std::string failure() const;
};

// The --set items, such as "model.ffn.width=70", that make the original the control.
std::vector<std::string> control_sets(const RunConfig& original, const ModelConfig& control);

}  // namespace headroom
