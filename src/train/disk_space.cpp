#include "train/disk_space.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <string>

#include "core/error.h"
#include "core/memory.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

fs::path nearest_existing(fs::path folder) {
  std::error_code none;
  while (!fs::exists(folder, none) && folder.has_parent_path() && folder != folder.parent_path())
    folder = folder.parent_path();
  return folder.empty() || !fs::exists(folder, none) ? fs::path(".") : folder;
}

double bytes_in(const fs::path& folder) {
  double bytes = 0;
  std::error_code problem;
  fs::directory_iterator at(folder, problem), end;
  for (; !problem && at != end; at.increment(problem)) {
    std::error_code none;
    if (at->is_regular_file(none) && !at->is_symlink(none))
      bytes += static_cast<double>(at->file_size(none));
  }
  return bytes;
}

}  // namespace

CheckpointNeeds checkpoint_needs(std::uint64_t parameters, const TrainConfig& train,
                                 const EvalConfig& eval, const RunOptions& run) {
  constexpr double kHeaderBytes = 1e4;
  const double copies = train.optimizer.type == OptimizerType::kAdamW ? 3 : 2;
  const std::uint64_t on_the_beat =
      run.checkpoint_every == 0 ? 0 : train.steps / run.checkpoint_every;
  const bool evaluates = eval.every > 0 && eval.items > 0;
  const std::uint64_t saves = on_the_beat + 1 + (evaluates ? train.steps / eval.every + 1 : 0);
  const std::uint64_t kept = std::min<std::uint64_t>(saves, run.keep + (evaluates ? 1 : 0));
  return {sizeof(float) * copies * static_cast<double>(parameters) + kHeaderBytes,
          std::min(saves, kept + 1)};
}

void require_disk_space(const fs::path& folder, const CheckpointNeeds& needs, std::uint64_t keep) {
  struct statvfs disk {};
  if (::statvfs(nearest_existing(folder).c_str(), &disk) != 0 || disk.f_blocks == 0) return;
  const double free = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  const double wanted = needs.bytes() - bytes_in(folder / "checkpoints");
  if (wanted <= free) return;
  throw Error(Exit::kFile,
              folder.string() + ": its checkpoints need " + bytes_text(wanted) + " more (" +
                  std::to_string(needs.n_files) + (needs.n_files == 1 ? " file" : " files") +
                  " of " + bytes_text(needs.file_bytes) + ", run.keep = " + std::to_string(keep) +
                  "), the disk has " + bytes_text(free) + " free");
}

}  // namespace headroom
