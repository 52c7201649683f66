#include "core/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "core/error.h"

namespace headroom {
namespace {

constexpr const char* kTemporaryMark = ".tmp-";

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

// Makes a rename in this folder survive a power cut. Some file systems cannot sync a folder; the
// rename itself is atomic there too.
void sync_folder(const std::filesystem::path& folder) {
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) (void)::fsync(fd.get());
}

std::filesystem::path temporary_beside(const std::filesystem::path& path) {
  return folder_of(path) /
         ("." + path.filename().string() + kTemporaryMark + std::to_string(::getpid()));
}

// Into what is there: a device or a pipe.
void write_through(const std::filesystem::path& path, std::span<const std::string_view> parts) {
  Descriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd.get() < 0) file_error(path, "write", errno);
  int error = 0;
  for (std::string_view part : parts)
    if (error == 0) error = write_all(fd.get(), part);
  if (fd.close() != 0 && error == 0) error = errno;
  if (error != 0) file_error(path, "write", error);
}

}  // namespace

void file_error(const std::filesystem::path& path, const std::string& doing, int error) {
  throw Error(Exit::kFile, path.string() + ": cannot " + doing + ": " + std::strerror(error));
}

// A short write goes on; EINTR tries again.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) file_error(path, "open", errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) file_error(path, "read", errno);
  if (S_ISDIR(info.st_mode)) file_error(path, "read", EISDIR);
  const auto too_large = [&] {
    throw Error(Exit::kFile, path.string() + ": larger than the limit of " +
                                 std::to_string(max_bytes) + " bytes");
  };
  if (S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) > max_bytes) too_large();
  std::string content;
  if (S_ISREG(info.st_mode)) content.reserve(static_cast<std::size_t>(info.st_size));
  std::array<char, 1 << 16> block;  // pipes and /dev/fd have no size: read to the end
  for (;;) {
    const ssize_t n = ::read(fd.get(), block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) file_error(path, "read", errno);
    if (n == 0) return content;
    content.append(block.data(), static_cast<std::size_t>(n));
    if (content.size() > max_bytes) too_large();
  }
}

void write_file_atomically(const std::filesystem::path& path,
                           std::span<const std::string_view> parts) {
  std::error_code problem;
  const std::filesystem::file_status status = std::filesystem::status(path, problem);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
      !std::filesystem::is_directory(status)) {
    write_through(path, parts);
    return;
  }
  if (std::filesystem::exists(status) && std::filesystem::is_symlink(path, problem)) {
    write_file_atomically(std::filesystem::canonical(path), parts);
    return;
  }
  const std::filesystem::path temporary = temporary_beside(path);
  int error = 0;
  {
    Descriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (fd.get() < 0) file_error(path, "write", errno);
    for (std::string_view part : parts)
      if (error == 0) error = write_all(fd.get(), part);
    if (error == 0 && ::fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS) error = errno;
    if (fd.close() != 0 && error == 0) error = errno;
  }
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    file_error(path, "write", error);
  }
  sync_folder(folder_of(path));
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  write_file_atomically(path, std::span(&content, 1));
}

void replace_link(const std::filesystem::path& link, const std::string& target) {
  const std::filesystem::path temporary = temporary_beside(link);
  ::unlink(temporary.c_str());
  if (::symlink(target.c_str(), temporary.c_str()) != 0) file_error(link, "link", errno);
  if (::rename(temporary.c_str(), link.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    file_error(link, "link", error);
  }
  sync_folder(folder_of(link));
}

void remove_temporaries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  std::error_code problem;
  std::filesystem::directory_iterator at(folder, problem), end;
  for (; !problem && at != end; at.increment(problem)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with(".") && name.find(kTemporaryMark) != std::string::npos) {
      found.push_back(at->path());
    }
  }
  for (const std::filesystem::path& path : found) {
    if (problem || (!std::filesystem::remove(path, problem) && problem)) break;
  }
  if (problem) file_error(folder, "remove temporary files", problem.value());
}

LineFile::LineFile(const std::filesystem::path& path, Mode mode)
    : path_(path),
      descriptor_(::open(
          path.c_str(),
          O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (mode == Mode::kTruncate ? O_TRUNC : 0),
          0666)) {
  if (descriptor_ < 0) file_error(path_, "write", errno);
}

LineFile::~LineFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

LineFile::LineFile(LineFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

void LineFile::append(std::string_view line) {
  std::string text(line);
  text += '\n';
  if (const int error = write_all(descriptor_, text)) file_error(path_, "write", error);
}

void LineFile::sync() {
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS)
    file_error(path_, "write", errno);
}

}  // namespace headroom
