// The control groups of this process: what a scheduler or a container grants it.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace headroom {

// Calls visit(folder, version) with the folder of this process's group under `controller` ("cpu",
// "memory") and of each group above it, up to the root as far as it is mounted here; version is 1
// or 2.
void for_each_cgroup(std::string_view controller,
                     const std::function<void(const std::filesystem::path&, int version)>& visit);

}  // namespace headroom
