// Parameters that training leaves as they start.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/params.h"

namespace headroom {

// For each row of the table whether one of the globs (as in fnmatch(3): * ? [...]; a dot is a
// letter like others) matches its name. Throws Error(kUsage) for a glob that matches none, with the
// nearest name.
std::vector<bool> frozen_rows(const ParamTable& table, const std::vector<std::string>& globs);

}  // namespace headroom
