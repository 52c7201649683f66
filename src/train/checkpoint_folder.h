// The checkpoints/ folder of a run: step-000005000.safetensors files, and the relative links
// last.safetensors and best.safetensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
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

  // The same for a checkpoint of an early stop, which a run that goes on would not have: it is
  // `last` and counts for nothing else, and goes with the next save.
  void save_interim(std::uint64_t step,
                    const std::function<void(const std::filesystem::path&)>& write);

  // Takes over the folder of an earlier process, killed at any moment: `last` becomes step's file
  // and `best` that of best_step (removed where there is none); those of `interim` are of early
  // stops; what is no longer kept goes.
  void resume(std::uint64_t step, std::optional<std::uint64_t> best_step,
              const std::vector<std::uint64_t>& interim);

  // Steps that have a file, ascending.
  std::vector<std::uint64_t> steps() const;
  std::filesystem::path file(std::uint64_t step) const { return folder_ / checkpoint_name(step); }

 private:
  void prune(std::uint64_t newest);

  std::filesystem::path folder_;
  std::size_t keep_;
  std::set<std::uint64_t> interim_;  // steps whose file is one of an early stop
};

}  // namespace headroom
