// The checkpoints/ folder of a run: step-000005000.safetensors files, and the relative links
// last.safetensors and best.safetensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace headroom {

inline constexpr const char* kLastLink = "last.safetensors";
inline constexpr const char* kBestLink = "best.safetensors";

std::string checkpoint_name(std::uint64_t step);  // "step-000005000.safetensors"

class CheckpointFolder {
 public:
  // Keeps the `keep` (at least 1) most recent files, and the one that best.safetensors points to.
  CheckpointFolder(std::filesystem::path folder, std::size_t keep);

  // Writes step's file with `write`, then points `last` (and `best`) at it, then removes what is no
  // longer kept: at every moment the links point to whole files. Throws Error(kFile) with the path.
  void save(std::uint64_t step, bool is_best,
            const std::function<void(const std::filesystem::path&)>& write);

  // Steps that have a file, ascending.
  std::vector<std::uint64_t> steps() const;

 private:
  void prune() const;

  std::filesystem::path folder_;
  std::size_t keep_;
};

}  // namespace headroom
