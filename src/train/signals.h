// Asking a run to stop. The handlers only set a flag; whoever works in steps looks at it between
// them.
#pragma once

#include <chrono>

#include "core/error.h"

namespace headroom {

// Catches SIGINT, SIGTERM and SIGUSR1, and ignores SIGPIPE so that `train | head -1` does not end a
// run. A second SIGINT leaves the process at once with code 130. May be called again.
void install_signal_handlers();

// The first signal caught, or 0.
int stop_signal();
// A time from which on a stop is asked for as well; time_point::max(): none.
void set_stop_deadline(std::chrono::steady_clock::time_point deadline);
bool stop_requested();
// How a process ends that stopped because it was asked: kInterrupted after SIGINT, else kStopped.
Exit stopped_exit();
const char* signal_name(int signal);  // "SIGINT", ...

// Forgets what was caught, and the deadline.
void clear_stop_signal();

}  // namespace headroom
