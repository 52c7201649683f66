#include "train/checkpoint_folder.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/file.h"

namespace headroom {
namespace {

constexpr std::string_view kPrefix = "step-", kSuffix = ".safetensors";

}  // namespace

std::string checkpoint_name(std::uint64_t step) {
  std::string digits = std::to_string(step);
  if (digits.size() < 9) digits.insert(0, 9 - digits.size(), '0');
  return std::string(kPrefix) + digits + std::string(kSuffix);
}

CheckpointFolder::CheckpointFolder(std::filesystem::path folder, std::size_t keep)
    : folder_(std::move(folder)), keep_(std::max<std::size_t>(keep, 1)) {}

void CheckpointFolder::save(std::uint64_t step, bool is_best,
                            const std::function<void(const std::filesystem::path&)>& write) {
  const std::string name = checkpoint_name(step);
  write(folder_ / name);
  replace_link(folder_ / kLastLink, name);
  if (is_best) replace_link(folder_ / kBestLink, name);
  prune();
}

std::vector<std::uint64_t> CheckpointFolder::steps() const {
  std::vector<std::uint64_t> found;
  std::error_code problem;
  std::filesystem::directory_iterator at(folder_, problem), end;
  for (; !problem && at != end; at.increment(problem)) {
    const std::string name = at->path().filename().string();
    std::string_view digits = name;
    if (!digits.starts_with(kPrefix) || !digits.ends_with(kSuffix)) continue;
    digits.remove_prefix(kPrefix.size());
    digits.remove_suffix(kSuffix.size());
    std::uint64_t step = 0;
    const auto [stop, bad] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
    if (bad == std::errc() && stop == digits.data() + digits.size()) found.push_back(step);
  }
  if (problem) {
    throw Error(Exit::kFile, folder_.string() + ": cannot list: " + problem.message());
  }
  std::sort(found.begin(), found.end());
  return found;
}

void CheckpointFolder::prune() const {
  std::error_code problem;
  const std::filesystem::path best = std::filesystem::read_symlink(folder_ / kBestLink, problem);
  const std::vector<std::uint64_t> found = steps();
  for (std::size_t i = 0; i + keep_ < found.size(); ++i) {
    const std::string name = checkpoint_name(found[i]);
    if (best == name) continue;
    if (!std::filesystem::remove(folder_ / name, problem) && problem) {
      throw Error(Exit::kFile, (folder_ / name).string() + ": cannot remove: " + problem.message());
    }
  }
}

}  // namespace headroom
