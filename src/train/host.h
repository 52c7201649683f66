// What a run ran on.
#pragma once

#include <string>

namespace headroom {

std::string cpu_model();        // as the system names it; "unknown" where it does not
std::string instruction_set();  // the widest vector instructions this program was compiled for
std::string utc_now();          // "2025-03-01T12:00:00Z"

}  // namespace headroom
