#include <filesystem>

#include "cli/commands.h"
#include "cli/run_arguments.h"
#include "config/write.h"
#include "train/loop.h"

namespace headroom {

Exit train_command(Arguments args) {
  ConfigArguments arguments;
  std::optional<std::string> out, init_from;
  bool force = false, quiet = false;
  CommandLine line(
      "train",
      "Trains the model of a config and writes its curves and checkpoints to a run directory.",
      "headroom train configs/quickstart/rank-16.json\n"
      "headroom train my.json --set train.optimizer.lr=3e-3 --set seed=1 --out runs/lr-3e-3");
  arguments.declare(line);
  line.text("--out", out, "DIR", "The run directory to make; the default is runs/NAME-HASH.");
  line.flag("--force", force, "Move a used run directory aside instead of refusing it.");
  line.text("--init-from", init_from, "FILE",
            "Start from the parameters of this checkpoint or weights file.");
  line.flag("--quiet", quiet, "Print nothing unless something goes wrong.");
  if (!line.parse(args)) return Exit::kDone;

  const RunConfig config = arguments.read();
  TrainJob job = train_job(config, "train", args);
  job.force = force;
  job.quiet = quiet;
  job.notes.push_back(arguments.choose_threads());
  for (const std::string& warning : warnings(config)) job.notes.push_back("warning: " + warning);
  if (init_from) job.init_from = *init_from;
  if (out) {
    job.out = *out;
  } else {
    job.out = default_run_directory(config);
    std::filesystem::create_directories(job.out.parent_path());
  }
  return train(job).exit;
}

}  // namespace headroom
