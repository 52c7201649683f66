#include "cli/run_checkpoint.h"

#include "config/read.h"
#include "config/resume.h"
#include "train/checkpoint_folder.h"

namespace headroom {

namespace fs = std::filesystem;

namespace {

fs::path checkpoint_path(const fs::path& run, const std::string& which) {
  if (which == "last") return run / "checkpoints" / kLastLink;
  if (which == "best") return run / "checkpoints" / kBestLink;
  return which;
}

void require_run_directory(const std::string& command, const fs::path& run) {
  if (fs::is_directory(run)) return;
  if (!fs::is_regular_file(run)) {
    throw Error(Exit::kFile, run.string() + ": no such run directory");
  }
  const fs::path folder = run.parent_path(),
                 home = folder.filename() == "checkpoints" ? folder.parent_path() : fs::path();
  throw Error(Exit::kUsage, command + ": " + run.string() +
                                " is a file; give its run directory, and the file with " +
                                "--checkpoint: headroom " + command + " " +
                                (home.empty() ? "RUN_DIR" : home.string()) + " --checkpoint " +
                                run.string());
}

}  // namespace

RunConfig read_run(const char* command, const fs::path& run, std::span<const std::string> sets) {
  require_run_directory(command, run);
  return read_run_config((run / "config.json").string(), sets);
}

std::string other_model(const fs::path& file, const RunConfig& config) {
  const safetensors::Archive archive(file);
  const std::string *format = archive.metadata("format"), *trained = archive.metadata("config");
  const bool is_ours = format != nullptr && format->starts_with("headroom");
  if (!is_ours || trained == nullptr) return "";
  return other_model(read_run_config_text(*trained), config, file.string());
}

safetensors::Archive open_checkpoint(const fs::path& run, const std::string& which,
                                     const RunConfig& config) {
  safetensors::Archive archive(checkpoint_path(run, which));
  if (const std::string* trained = archive.metadata("config"))
    require_same_model(read_run_config_text(*trained), config, archive.path().string());
  return archive;
}

}  // namespace headroom
