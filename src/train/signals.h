// Asking a run to stop. The handlers only set a flag; whoever works in steps looks at it between
// them.
#pragma once

namespace headroom {

// Catches SIGINT, SIGTERM and SIGUSR1, and ignores SIGPIPE so that `train | head -1` does not end a
// run. A second SIGINT leaves the process at once with code 130. May be called again.
void install_signal_handlers();

// The first signal caught, or 0.
int stop_signal();
inline bool stop_requested() { return stop_signal() != 0; }
const char* signal_name(int signal);  // "SIGINT", ...

// Forgets what was caught.
void clear_stop_signal();

}  // namespace headroom
