// Runs the real headroom binary as a user would and captures what comes out. A target that includes
// this defines HEADROOM_BINARY="$<TARGET_FILE:headroom>" and depends on the target headroom
// (tests/cli/CMakeLists.txt).
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

namespace headroom {

struct BinaryOptions {
  std::vector<std::string> environment = {};  // "NAME=VALUE", over the present environment
  std::filesystem::path folder = {};          // to run in; empty = the present one
  std::string stdout_path = {};               // a file instead of the capture, such as /dev/full
  long close_stdout_after =
      -1;               // the reader of stdout goes away after so many bytes, as `| head` does
  int timeout_s = 120;  // then it is killed
};

struct BinaryResult {
  int exit_code = -1;  // -1: it did not exit by itself
  int signal = 0;      // that ended it
  bool timed_out = false;
  std::string out, err;
};

inline BinaryResult run_binary(const std::vector<std::string>& args,
                               const BinaryOptions& options = {}) {
  BinaryResult result;
  int out[2], err[2];
  if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) {
    ADD_FAILURE() << "no pipe";
    return result;
  }
  std::vector<std::string> words{HEADROOM_BINARY};
  words.insert(words.end(), args.begin(), args.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const pid_t child = ::fork();
  if (child == 0) {
    const int null = ::open("/dev/null", O_RDONLY);
    int to = out[1];
    if (!options.stdout_path.empty())
      to = ::open(options.stdout_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const bool placed = options.folder.empty() || ::chdir(options.folder.c_str()) == 0;
    if (to < 0 || !placed || ::dup2(null, 0) < 0 || ::dup2(to, 1) < 0 || ::dup2(err[1], 2) < 0)
      ::_exit(125);
    for (std::string entry : options.environment) ::putenv(::strdup(entry.c_str()));
    ::signal(SIGPIPE, SIG_DFL);
    ::execv(argv[0], argv.data());
    ::_exit(126);
  }
  ::close(out[1]);
  ::close(err[1]);
  if (child < 0) ADD_FAILURE() << "no fork";

  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(options.timeout_s);
  std::array<pollfd, 2> ends{pollfd{out[0], POLLIN, 0}, pollfd{err[0], POLLIN, 0}};
  const std::array<std::string*, 2> texts{&result.out, &result.err};
  const auto close_end = [&](std::size_t i) {
    ::close(ends[i].fd);
    ends[i].fd = -1;  // poll passes over it
  };
  if (options.close_stdout_after == 0) close_end(0);
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    const int ready =
        left.count() <= 0 ? 0 : ::poll(ends.data(), ends.size(), static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      result.timed_out = true;
      ::kill(child, SIGKILL);
      break;
    }
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0) continue;
      std::array<char, 4096> block;
      const ssize_t n = ::read(ends[i].fd, block.data(), block.size());
      if (n > 0) texts[i]->append(block.data(), static_cast<std::size_t>(n));
      const bool enough = i == 0 && options.close_stdout_after >= 0 &&
                          result.out.size() >= static_cast<std::size_t>(options.close_stdout_after);
      if (n <= 0 || enough) close_end(i);
    }
  }
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i].fd >= 0) close_end(i);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

// Starts the binary in the background, as a shell with a terminal does.
inline pid_t start_binary(std::vector<std::string> args) {
  args.insert(args.begin(), HEADROOM_BINARY);
  std::vector<char*> argv;
  for (std::string& word : args) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execv(argv[0], argv.data());
    ::_exit(126);
  }
  return child;
}
// Its exit code, or minus the signal that ended it.
inline int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// A mistake of the user: this exit code, one line "headroom: ..." on stderr with these parts,
// nothing on stdout.
inline void expect_refused(const BinaryResult& result, int exit_code,
                           std::initializer_list<std::string> parts) {
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(result.err.starts_with("headroom: ")) << result.err;
  EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
  for (const std::string& part : parts) {
    EXPECT_NE(result.err.find(part), std::string::npos)
        << "expected: " << part << "\nin: " << result.err;
  }
}

// An empty folder of its own, gone at the end.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& name = "headroom test",
                         const std::filesystem::path& parent = testing::TempDir())
      : path_(parent / (name + " " + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Writes a file and returns its path.
  std::string put(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return (path_ / name).string();
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path path_;
};

}  // namespace headroom
