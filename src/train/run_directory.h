// Making a run's folder: whole or not at all, and never over another run.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace headroom {

struct NewFile {
  std::string name, content;
};

// Makes the folder `wanted` holding an empty checkpoints/ and these files. It is built beside and
// renamed, so of two runs that want the same name at once one gets it and the other is refused. A
// folder that exists and is empty (a mount point, say) is filled in place.
//
// A used folder: Error(kUsage) with advice, or (unless another process is training in it) with
// `force` it is renamed to `wanted`.old-N first, and that name is returned. No parent, no
// permission, no space: Error(kFile) with the path; nothing is left.
std::optional<std::filesystem::path> make_run_directory(const std::filesystem::path& wanted,
                                                        bool force, std::span<const NewFile> files);

}  // namespace headroom
