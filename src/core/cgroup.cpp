#include "core/cgroup.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "core/spelling.h"

namespace headroom {

void for_each_cgroup(std::string_view controller,
                     const std::function<void(const std::filesystem::path&, int version)>& visit) {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "ID:CONTROLLERS:PATH"
    const std::size_t colon = line.find(':'), colon2 = line.find(':', colon + 1);
    if (colon == std::string::npos || colon2 == std::string::npos) continue;
    const std::string controllers = line.substr(colon + 1, colon2 - colon - 1);
    const bool second = controllers.empty();
    const std::vector<std::string_view> names = split(controllers, ',');
    if (!second && std::find(names.begin(), names.end(), controller) == names.end()) continue;
    std::filesystem::path root = "/sys/fs/cgroup";
    if (!second) root /= controller;
    std::filesystem::path group = std::filesystem::path(line.substr(colon2 + 1)).relative_path();
    for (;;) {
      visit(root / group, second ? 2 : 1);
      if (group.empty()) break;
      group = group.parent_path();
    }
  }
}

}  // namespace headroom
