// The one exception of the project. A user's mistake or a failing disk throws Error and becomes one
// line and an exit code in main(); a programmer's mistake asserts.
#pragma once

#include <stdexcept>
#include <string>

namespace headroom {

// Exit codes of the program; scripts rely on the numbers.
enum class Exit : int {
  kDone = 0,
  kUsage = 2,        // usage or config error
  kFile = 3,         // file or disk error
  kDiverged = 4,     // a non-finite loss, gradient or parameter
  kCorrupt = 5,      // checkpoint corrupt or incompatible
  kCheckFailed = 6,  // `check` or `selftest` found a difference
  kStopped = 75,     // stopped early on purpose, with a good checkpoint
  kInterrupted = 130
};

class Error : public std::runtime_error {
 public:
  // `message` is one line without a final full stop or newline.
  Error(Exit code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Exit code() const { return code_; }

 private:
  Exit code_;
};

// For what the user wrote and cannot be.
[[noreturn]] inline void refuse(const std::string& message) { throw Error(Exit::kUsage, message); }

}  // namespace headroom
