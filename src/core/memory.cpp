#include "core/memory.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "core/cgroup.h"
#include "core/error.h"

namespace headroom {
namespace {

// The number behind `key` in a file of lines "key number", 0 where there is none.
double entry(const std::filesystem::path& file, const std::string& key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() > key.size() && line.starts_with(key) && !std::isalnum(line[key.size()]) &&
        line[key.size()] != '_')
      return std::strtod(line.c_str() + key.size() + 1, nullptr);
  }
  return 0;
}

double number_in(const std::filesystem::path& file, double otherwise) {
  double number = 0;  // "max" is no number
  return std::ifstream(file) >> number ? number : otherwise;
}

}  // namespace

std::optional<double> available_memory_bytes() {
  constexpr double kUnlimited = std::numeric_limits<double>::infinity(), kKilo = 1024;
  const std::filesystem::path system = "/proc/meminfo";
  double available = kKilo * (entry(system, "MemAvailable") + entry(system, "SwapFree"));
  if (available == 0) available = kUnlimited;
  for_each_cgroup("memory", [&](const std::filesystem::path& folder, int version) {
    const bool second = version == 2;
    const double limit =
        number_in(folder / (second ? "memory.max" : "memory.limit_in_bytes"), kUnlimited);
    if (limit == kUnlimited) return;
    const double used =
        number_in(folder / (second ? "memory.current" : "memory.usage_in_bytes"), 0);
    // Files that lie in memory give way.
    const double files =
        entry(folder / "memory.stat", second ? "inactive_file" : "total_inactive_file");
    available = std::min(available, std::max(0.0, limit - used + files));
  });
  if (available == kUnlimited) return std::nullopt;
  return available;
}

void require_memory(double bytes, const std::string& what, const std::string& advice) {
  constexpr double kNeverAsked = 64e6;  // the question costs more than such an allocation
  if (bytes < kNeverAsked) return;
  const std::optional<double> available = available_memory_bytes();
  if (!available || bytes <= *available) return;
  throw Error(Exit::kUsage, what + " needs " + bytes_text(bytes) + " of memory, " +
                                bytes_text(*available) + " are available; " + advice);
}

void prefer_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
  ::madvise(memory, bytes, MADV_HUGEPAGE);
#endif
}

std::string bytes_text(double bytes) {
  constexpr std::array units{"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < units.size(); ++unit) bytes /= 1000;
  std::array<char, 400> text;  // a double has at most 309 digits before its point
  const auto end = std::to_chars(text.data(), text.data() + text.size(), bytes,
                                 std::chars_format::fixed, unit == 0 ? 0 : 1)
                       .ptr;
  return std::string(text.data(), end) + " " + units[unit];
}

}  // namespace headroom
