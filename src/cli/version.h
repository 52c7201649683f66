// What this program is and was built from.
#pragma once

#include <string>

namespace headroom {

std::string version();  // "0.1.0"
std::string
commit();  // "1a2b3c4d5e6f", "-dirty" after it where the tree had changes; "unknown" without git
std::string version_text();  // what --version prints

}  // namespace headroom
