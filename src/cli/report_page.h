// The page that `headroom report` writes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/run_side.h"

namespace headroom {

// One HTML document that loads nothing: what each run was and how it ended, curves as inline SVG,
// which config fields differ, the config they share. `runs` are run directories, at least one;
// `unreadable` holds (path, why) of others. Reads their CSV files; throws Error(kFile).
std::string report_page(const std::vector<RunSide>& runs,
                        const std::vector<std::pair<std::string, std::string>>& unreadable);

}  // namespace headroom
