#include "train/run_directory.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "train/run_lock.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_used(const fs::path& path) {
  throw Error(Exit::kUsage, path.string() +
                                ": already holds files; continue that run with --resume, choose "
                                "another folder with --out, or move this one aside with --force");
}

// 0 or errno. Never replaces anything but (on file systems without RENAME_NOREPLACE) an empty
// folder.
int rename_to_new(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

// The claim on an existing folder is the exclusive making of checkpoints/.
void fill(const fs::path& folder, std::span<const NewFile> files) {
  if (const fs::path inside = folder / "checkpoints"; ::mkdir(inside.c_str(), 0777) != 0) {
    if (errno == EEXIST) refuse_used(folder);
    file_error(inside, "create", errno);
  }
  for (const NewFile& file : files) write_file_atomically(folder / file.name, file.content);
}

fs::path move_aside(const fs::path& folder) {
  RunLock lock;  // a live run would go on writing into the folder that takes this one's name
  if (fs::exists(folder / RunLock::kFile)) lock = RunLock(folder);
  for (int n = 1;; ++n) {
    fs::path aside = folder;
    aside += ".old-" + std::to_string(n);
    struct stat info {};
    if (::lstat(aside.c_str(), &info) == 0) continue;
    const int problem = rename_to_new(folder, aside);
    if (problem == 0) return aside;
    if (problem != EEXIST && problem != ENOTEMPTY) file_error(folder, "move aside", problem);
  }
}

// Folders that processes killed while they made this run's left beside it: making one takes
// milliseconds, so an old one is nobody's.
void remove_abandoned(const fs::path& parent, const std::string& prefix) {
  constexpr std::chrono::minutes kAbandoned{10};
  std::error_code problem;
  std::vector<fs::path> found;
  for (fs::directory_iterator at(parent, problem), end; !problem && at != end;
       at.increment(problem)) {
    if (!at->path().filename().string().starts_with(prefix)) continue;
    std::error_code gone;
    const auto written = fs::last_write_time(at->path(), gone);
    if (!gone && fs::file_time_type::clock::now() - written > kAbandoned) {
      found.push_back(at->path());
    }
  }
  for (const fs::path& path : found) fs::remove_all(path, problem);  // or stays: it does no harm
}

void make_beside(const fs::path& wanted, std::span<const NewFile> files) {
  const fs::path parent = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  const std::string prefix = "." + wanted.filename().string() + ".tmp-";
  remove_abandoned(parent, prefix);
  const fs::path beside = wanted.parent_path() / (prefix + std::to_string(::getpid()));
  if (::mkdir(beside.c_str(), 0777) != 0) {
    const int problem = errno;
    if (problem == ENOENT)
      file_error(wanted, "create, its parent folder " + parent.string() + " is missing", problem);
    file_error(wanted, "create", problem);
  }
  std::error_code ignored;
  try {
    fill(beside, files);
  } catch (const Error& error) {
    fs::remove_all(beside, ignored);
    throw Error(error.code(), wanted.string() + ": cannot be filled: " + error.what());
  }
  if (const int problem = rename_to_new(beside, wanted); problem != 0) {
    fs::remove_all(beside, ignored);
    if (problem == EEXIST || problem == ENOTEMPTY) refuse_used(wanted);
    file_error(wanted, "create", problem);
  }
}

}  // namespace

std::optional<fs::path> make_run_directory(const fs::path& wanted, bool force,
                                           std::span<const NewFile> files) {
  fs::path path = wanted.lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // "runs/a/" is "runs/a"
  if (path.empty()) throw Error(Exit::kUsage, "the run directory has an empty name");

  std::error_code problem;
  const fs::file_status status = fs::status(path, problem);
  if (status.type() == fs::file_type::none) file_error(path, "look", problem.value());
  std::optional<fs::path> aside;
  if (fs::exists(status)) {
    if (!fs::is_directory(status)) file_error(path, "use as a run directory", ENOTDIR);
    const bool empty = fs::is_empty(path, problem);
    if (problem) file_error(path, "look", problem.value());
    if (empty) {
      fill(path, files);
      return aside;
    }
    if (!force) refuse_used(path);
    aside = move_aside(path);
  }
  make_beside(path, files);
  return aside;
}

}  // namespace headroom
