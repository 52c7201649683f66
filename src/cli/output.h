// Standard output, where results go.
#pragma once

#include <string_view>

namespace headroom {

// Writes all of it at once. A reader that has gone away (`headroom describe config | head -1`) is
// no error: that output and all later output is dropped. Anything else that fails throws
// Error(kFile).
void print(std::string_view text);

// "headroom: MESSAGE" as one line on stderr.
void print_error(std::string_view message);

}  // namespace headroom
