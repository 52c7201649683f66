// What only a privileged user can set up for a test: a small file system, a control group. Where it
// is refused the test says why and is skipped; these are all of that kind (tests/cases.md).
#pragma once

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace headroom {

// A tmpfs of so many bytes at `folder`, which exists; gone at the end.
class SmallDisk {
 public:
  SmallDisk(const std::filesystem::path& folder, std::size_t bytes) : folder_(folder) {
    const std::string size = "size=" + std::to_string(bytes);
    mounted_ = ::mount("tmpfs", folder.c_str(), "tmpfs", 0, size.c_str()) == 0;
    if (!mounted_) why_not_ = std::string("cannot mount a tmpfs: ") + std::strerror(errno);
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  const std::string& why_not() const { return why_not_; }  // "" where it is there

 private:
  std::filesystem::path folder_;
  bool mounted_ = false;
  std::string why_not_;
};

// A control group with one limit, of version 1 or 2, whichever the system has.
class LimitedGroup {
 public:
  // `first` is the limit's file under version 1, `second` under version 2.
  LimitedGroup(const std::string& controller, const std::string& first, const std::string& second,
               const std::string& limit) {
    const std::string name = "headroom-test-" + std::to_string(::getpid());
    const std::filesystem::path root = "/sys/fs/cgroup";
    const bool v2 = std::filesystem::exists(root / "cgroup.controllers");
    folder_ = (v2 ? root : root / controller) / name;
    std::error_code problem;
    if (!std::filesystem::create_directory(folder_, problem) ||
        !put(folder_ / (v2 ? second : first), limit)) {
      why_not_ =
          "cannot make a control group of " + controller + " in " + folder_.parent_path().string();
    }
  }
  ~LimitedGroup() {
    for (int i = 0; i < 100 && ::rmdir(folder_.c_str()) != 0 && errno == EBUSY; ++i)
      ::usleep(10'000);
  }
  LimitedGroup(const LimitedGroup&) = delete;
  LimitedGroup& operator=(const LimitedGroup&) = delete;
  const std::string& why_not() const { return why_not_; }
  // For a shell: what follows runs in the group.
  std::string enter() const {
    return "echo $$ > '" + (folder_ / "cgroup.procs").string() + "' && ";
  }

 private:
  static bool put(const std::filesystem::path& file, const std::string& text) {
    std::ofstream out(file);
    out << text << std::flush;
    return out.good();
  }
  std::filesystem::path folder_;
  std::string why_not_;
};

}  // namespace headroom
