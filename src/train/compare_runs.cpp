#include "train/compare_runs.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>

#include "core/error.h"
#include "core/file.h"
#include "train/safetensors.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxBytes = std::uint64_t{64} << 30;
constexpr std::string_view kElapsed = "elapsed_s";

// Paths below the folder, without what tells of the process.
std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code problem;
  for (fs::recursive_directory_iterator at(folder, problem), end; !problem && at != end;
       at.increment(problem)) {
    const std::string name = at->path().lexically_relative(folder).string();
    if (at->is_directory() && !at->is_symlink()) continue;
    if (name == "run.json" || name == "log.txt" || name == ".lock") continue;
    names.insert(name);
  }
  if (problem) throw Error(Exit::kFile, folder.string() + ": cannot list: " + problem.message());
  return names;
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string without_cell(std::string_view line, std::size_t column) {
  std::string kept;
  std::size_t at = 0;
  for (const char c : line) {
    if (c == ',') ++at;
    if (at != column) kept += c;
  }
  return kept;
}

std::string csv_difference(std::string_view a, std::string_view b) {
  const std::string_view header = a.substr(0, a.find('\n'));
  std::size_t elapsed = std::string_view::npos;
  if (const std::size_t at = header.find(kElapsed); at != std::string_view::npos) {
    elapsed = static_cast<std::size_t>(
        std::count(header.begin(), header.begin() + static_cast<std::ptrdiff_t>(at), ','));
  }
  for (std::size_t row = 0; !a.empty() || !b.empty(); ++row) {
    const bool a_ends = a.empty(), b_ends = b.empty();
    const std::string x = without_cell(next_line(a), elapsed),
                      y = without_cell(next_line(b), elapsed);
    if (x == y && a_ends == b_ends) continue;
    return "row " + std::to_string(row) + ": " + (a_ends ? "none" : "'" + x + "'") + " and " +
           (b_ends ? "none" : "'" + y + "'");
  }
  return a == b ? "" : "the last line's end";
}

std::string checkpoint_difference(const fs::path& a, const fs::path& b) {
  const safetensors::Archive x(a), y(b);
  for (const safetensors::Tensor& t : x.tensors()) {
    const safetensors::Tensor* const other = y.find(t.name);
    if (other == nullptr || other->bytes != t.bytes) return "tensor " + t.name;
  }
  return "its metadata";
}

std::string file_difference(const fs::path& a, const fs::path& b) {
  if (fs::is_symlink(a) != fs::is_symlink(b)) return "one is a link";
  if (fs::is_symlink(a)) {
    const std::string x = fs::read_symlink(a).string(), y = fs::read_symlink(b).string();
    return x == y ? "" : "points to " + x + " and " + y;
  }
  const std::string x = read_file(a, kMaxBytes), y = read_file(b, kMaxBytes);
  if (x == y) return "";
  if (a.extension() == ".csv") return csv_difference(x, y);
  if (a.extension() == ".safetensors") return checkpoint_difference(a, b);
  const auto first = std::mismatch(x.begin(), x.end(), y.begin(), y.end()).first;
  return "byte " + std::to_string(first - x.begin());
}

}  // namespace

RunComparison compare_runs(const fs::path& a, const fs::path& b) {
  const std::set<std::string> in_a = names_in(a), in_b = names_in(b);
  RunComparison result;
  // The small files first: a row says more than a tensor.
  const auto all = [&] {
    std::set<std::string> names = in_a;
    names.insert(in_b.begin(), in_b.end());
    std::vector<std::string> ordered(names.begin(), names.end());
    std::stable_partition(ordered.begin(), ordered.end(), [](const std::string& name) {
      return name.find('/') == std::string::npos;
    });
    return ordered;
  }();
  for (const std::string& name : all) {
    if (!in_a.contains(name) || !in_b.contains(name)) {
      result.difference = name + ": only in " + (in_a.contains(name) ? a : b).string();
      return result;
    }
    if (const std::string what = file_difference(a / name, b / name); !what.empty()) {
      result.difference = name + ": " + what;
      return result;
    }
    ++result.files;
  }
  return result;
}

}  // namespace headroom
