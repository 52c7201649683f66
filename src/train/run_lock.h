// One process at a time in a run directory.
#pragma once

#include <filesystem>

namespace headroom {

// Holds flock(2) on FOLDER/.lock, which the kernel releases however the process ends. The file
// stays, empty unless a process holds it or was killed: removing it would let two processes lock
// two files of one name. On a file system without locks it holds nothing.
class RunLock {
 public:
  static constexpr const char* kFile = ".lock";

  RunLock() = default;  // holds nothing
  // Throws Error(kUsage) naming the folder (and the process, where it said so) if another process
  // holds the lock, Error(kFile) with the path if the file cannot be opened.
  explicit RunLock(const std::filesystem::path& folder);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&& other) noexcept;

 private:
  int descriptor_ = -1;
};

}  // namespace headroom
