// Files that are either whole or not there. Every function throws Error(Exit::kFile) naming the
// path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace headroom {

// Throws "PATH: cannot DOING: " and what errno's number `error` means.
[[noreturn]] void file_error(const std::filesystem::path& path, const std::string& doing,
                             int error);

// Writes all bytes; 0, or errno.
int write_all(int descriptor, std::string_view bytes);

// The whole file; an error if it is no regular file or holds more than `max_bytes`.
std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes);

// Writes beside `path`, syncs, renames over it and syncs the folder: a reader sees the old file or
// the new one. The temporary file is gone after an error. A symbolic link stays and its target is
// replaced; a device or pipe cannot be replaced and is written to.
void write_file_atomically(const std::filesystem::path& path,
                           std::span<const std::string_view> parts);
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

// Points the relative symbolic link `link` at `target` (a name in the same folder), replacing it
// atomically.
void replace_link(const std::filesystem::path& link, const std::string& target);

// Removes what writes of an earlier process left in this folder when it was killed. Only for a
// folder in which nobody else writes now.
void remove_temporaries(const std::filesystem::path& folder);

// An append-only text file whose lines are on disk (written through, not buffered) when append
// returns.
class LineFile {
 public:
  enum class Mode { kTruncate, kContinue };  // both create the file where there is none
  explicit LineFile(const std::filesystem::path& path, Mode mode = Mode::kTruncate);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;
  LineFile(LineFile&& other) noexcept;
  LineFile& operator=(LineFile&&) = delete;
  void append(std::string_view line);  // adds the newline
  void sync();                         // the lines so far survive a power cut

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace headroom
