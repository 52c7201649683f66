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
  interim_.erase(step);
  replace_link(folder_ / kLastLink, name);
  if (is_best) replace_link(folder_ / kBestLink, name);
  prune(step);
}

void CheckpointFolder::save_interim(
    std::uint64_t step, const std::function<void(const std::filesystem::path&)>& write) {
  const std::string name = checkpoint_name(step);
  write(folder_ / name);
  interim_.insert(step);
  replace_link(folder_ / kLastLink, name);
  prune(step);
}

void CheckpointFolder::resume(std::uint64_t step, std::optional<std::uint64_t> best_step,
                              const std::vector<std::uint64_t>& interim) {
  interim_.insert(interim.begin(), interim.end());
  const auto point = [&](const char* link, const std::string& target) {
    std::error_code none;
    if (std::filesystem::read_symlink(folder_ / link, none) != target) {
      replace_link(folder_ / link, target);
    }
  };
  point(kLastLink, checkpoint_name(step));
  if (best_step && std::filesystem::exists(folder_ / checkpoint_name(*best_step))) {
    point(kBestLink, checkpoint_name(*best_step));
  } else {
    std::error_code none;
    std::filesystem::remove(folder_ / kBestLink, none);
  }
  prune(step);
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

void CheckpointFolder::prune(std::uint64_t newest) {
  std::error_code problem;
  const auto remove = [&](std::uint64_t step) {
    const std::filesystem::path file = folder_ / checkpoint_name(step);
    if (!std::filesystem::remove(file, problem) && problem) {
      throw Error(Exit::kFile, file.string() + ": cannot remove: " + problem.message());
    }
  };
  for (auto at = interim_.begin(); at != interim_.end();) {
    if (*at == newest) {
      ++at;
      continue;
    }
    remove(*at);
    at = interim_.erase(at);
  }
  const std::filesystem::path best = std::filesystem::read_symlink(folder_ / kBestLink, problem);
  std::vector<std::uint64_t> found = steps();
  std::erase_if(found, [&](std::uint64_t step) { return interim_.contains(step); });
  for (std::size_t i = 0; i + keep_ < found.size(); ++i) {
    if (best != checkpoint_name(found[i])) remove(found[i]);
  }
}

}  // namespace headroom
