#include "train/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/file.h"

namespace headroom {
namespace {

// " (process 1234)", from what the holder wrote.
std::string holder(int descriptor) {
  std::array<char, 16> text{};
  const ssize_t n = ::pread(descriptor, text.data(), text.size(), 0);
  std::string digits;
  for (ssize_t i = 0; i < n; ++i) {
    const char c = text[static_cast<std::size_t>(i)];
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) break;
    digits += c;
  }
  return digits.empty() ? "" : " (process " + digits + ")";
}

}  // namespace

RunLock::RunLock(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kFile;
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    file_error(file, "open", errno);
  }
  int problem = 0;
  do {
    problem = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  } while (problem == EINTR);
  if (problem == 0) {
    const std::string mine = std::to_string(::getpid()) + "\n";
    // Only a help to the reader of a message.
    if (::ftruncate(descriptor_, 0) == 0) (void)!::pwrite(descriptor_, mine.data(), mine.size(), 0);
    return;
  }
  const std::string who = holder(descriptor_);
  ::close(std::exchange(descriptor_, -1));
  if (problem == EWOULDBLOCK) {
    throw Error(Exit::kUsage, folder.string() + ": another process" + who +
                                  " is training in this run directory; wait for it, or choose "
                                  "another folder with --out");
  }
  if (problem != ENOLCK && problem != ENOSYS && problem != EOPNOTSUPP) {
    file_error(file, "lock", problem);
  }
}

RunLock::~RunLock() {
  if (descriptor_ < 0) return;
  (void)!::ftruncate(descriptor_, 0);
  ::close(descriptor_);
}

RunLock::RunLock(RunLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

}  // namespace headroom
