#include <filesystem>
#include <set>
#include <string>

#include "config/read.h"
#include "config/sweep.h"
#include "config/write.h"
#include "fuzz/readers.h"

namespace headroom::fuzz {

void read_sweep(std::string_view input) {
  constexpr std::size_t kMaxPoints = 12;
  Sweep sweep;
  const std::string source = std::string(HEADROOM_SOURCE) + "/configs/quickstart/fuzz.json";
  if (!taken([&] { sweep = read_sweep_text(input, source, kMaxPoints); },
             {Exit::kUsage, Exit::kFile})) {
    return;
  }
  require(!sweep.points.empty() && sweep.points.size() <= kMaxPoints, "a sweep has points");
  std::set<std::string> folders;
  for (const SweepPoint& point : sweep.points) {
    require(is_safe_name(point.name), "a name is a safe component of a path: " + point.name);
    require(folders.insert(point.out.string()).second, "no two points share " + point.out.string());
  }
  // From a folder that grid has yet to make nothing can be extended.
  if (!sweep.base_text.empty() && !std::filesystem::exists(sweep.out)) return;
  // What `headroom train BASE --set ...` will read.
  const SweepPoint& last = sweep.points.back();
  const RunConfig config = sweep.base_text.empty()
                               ? read_run_config(sweep.base, last.sets)
                               : read_run_config_text(sweep.base_text, last.sets, sweep.base);
  require(config_hash(config) == last.hash, "the command line gives the point's config");
}

}  // namespace headroom::fuzz
