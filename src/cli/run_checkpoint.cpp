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

}  // namespace

RunConfig read_run(const fs::path& run, std::span<const std::string> sets) {
  if (!fs::is_directory(run)) throw Error(Exit::kFile, run.string() + ": no such run directory");
  return read_run_config((run / "config.json").string(), sets);
}

safetensors::Archive open_checkpoint(const fs::path& run, const std::string& which,
                                     const RunConfig& config) {
  safetensors::Archive archive(checkpoint_path(run, which));
  if (const std::string* trained = archive.metadata("config"))
    require_same_model(read_run_config_text(*trained), config, archive.path().string());
  return archive;
}

}  // namespace headroom
