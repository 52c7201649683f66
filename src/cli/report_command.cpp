#include <algorithm>
#include <filesystem>
#include <string_view>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/report_page.h"
#include "cli/run_side.h"
#include "core/file.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

// NAME.old-1 is what --force moved aside.
bool is_aside(const std::string& name) {
  constexpr std::string_view kMark = ".old-";
  const std::size_t at = name.rfind(kMark);
  return at != std::string::npos && at + kMark.size() < name.size() &&
         name.find_first_not_of("0123456789", at + kMark.size()) == std::string::npos;
}

bool is_run(const fs::path& path) { return fs::exists(path / "config.json"); }

// The run directories at `path` or directly below it, by name.
std::vector<std::string> runs_at(const std::string& path) {
  if (!fs::is_directory(path)) throw Error(Exit::kFile, path + ": no such directory");
  if (is_run(path)) return {path};
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.is_directory() && is_run(entry.path()) && !is_aside(entry.path().filename().string()))
      found.push_back(entry.path().string());
  }
  if (found.empty()) {
    throw Error(Exit::kFile,
                path + ": neither a run directory nor one that holds any (no config.json)");
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

Exit report_command(Arguments args) {
  std::string out = "report.html";
  std::vector<std::string> given;
  bool quiet = false;
  CommandLine line(
      "report",
      "Writes one HTML page about a run or a sweep: how each run ended, curves, what differs "
      "between their configs, and the config they share. The page holds all it needs, so it can "
      "be "
      "mailed. DIR is a run directory or holds some; what --force moved aside is left out.",
      "headroom report runs/my-run --out my-run.html\nheadroom report runs/sweep\n"
      "headroom report runs/sweep runs/other --out both.html");
  line.arguments("DIR", given, "A run directory, or one that holds some.");
  line.text("--out", out, "FILE", "Where the page goes; the default is report.html.");
  line.flag("--quiet", quiet, "Say nothing on success.");
  if (!line.parse(args)) return Exit::kDone;

  std::vector<std::string> paths;
  for (const std::string& path : given)
    for (const std::string& run : runs_at(path)) paths.push_back(run);
  std::vector<RunSide> runs;
  std::vector<std::pair<std::string, std::string>> unreadable;
  for (const std::string& path : paths) {
    try {
      runs.push_back(read_run_side(path));
    } catch (const Error& error) {
      if (paths.size() == 1) throw;
      unreadable.emplace_back(path, error.what());
      print_error(std::string(error.what()) + "; the run is left out");
    }
  }
  if (runs.empty()) throw Error(Exit::kFile, given.front() + ": no run in it can be read");
  write_file_atomically(out, report_page(runs, unreadable));
  if (!quiet) print_error("wrote " + out + ", " + std::to_string(runs.size()) + " runs");
  return unreadable.empty() ? Exit::kDone : Exit::kFile;
}

}  // namespace headroom
