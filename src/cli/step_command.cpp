#include <filesystem>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/run_arguments.h"
#include "cli/run_checkpoint.h"
#include "config/write.h"
#include "core/numbers.h"
#include "train/signals.h"
#include "train/step.h"

namespace headroom {

Exit step_command(Arguments args) {
  ConfigArguments arguments;
  StepJob job;
  std::optional<std::string> load;
  std::string dump, dtype = "float32";
  bool quiet = false;
  CommandLine line(
      "step",
      "Takes a few training steps and writes all they computed to a safetensors file, for "
      "comparison "
      "with another program.",
      "headroom step configs/quickstart/rank-4.json --dump step.safetensors\n"
      "headroom step my.json --load step.safetensors --dtype float64 --dump double.safetensors\n"
      "headroom step runs/mine/config.json --load runs/mine/checkpoints/step-000005000.safetensors "
      "--at 5417 --dump update-5417.safetensors");
  arguments.declare(line);
  line.text("--dump", dump, "FILE", "The file to write; must be given.");
  line.text("--load", load, "FILE",
            "Start from a checkpoint, or from the parameters and batch of a dump.");
  line.whole("--steps", job.steps, {1, 1000000}, "N", "How many steps; the default is 1.");
  line.whole("--at", job.at, {1, kMaxUpdates}, "N",
             "Begin with update N: those before it are taken and not written. With --load of a "
             "checkpoint before it that is quick.");
  line.choice("--dtype", dtype, {"float32", "float64"},
              "The arithmetic: the fast kernels, or the reference loops in double. The default is "
              "float32.");
  line.flag("--quiet", quiet, "Print nothing unless something goes wrong.");
  if (!line.parse(args)) return Exit::kDone;
  if (dump.empty())
    throw Error(Exit::kUsage, "step: --dump FILE says where to write; it must be given");

  std::error_code absent;  // of either file
  if (std::filesystem::equivalent(dump, arguments.path, absent))
    throw Error(Exit::kUsage, "step: --dump " + dump + " would overwrite the config");
  const RunConfig config = arguments.read();
  arguments.choose_threads();
  job.task = config.task;
  job.model = config.model;
  job.train = config.train;
  job.init_seed = config.init_seed();
  job.data_seed = config.data_seed();
  job.config_text = config_text(config);
  job.float64 = dtype == "float64";
  job.dump = dump;
  if (load) {
    job.load = *load;
    if (const std::string other = other_model(*load, config); !other.empty())
      throw Error(Exit::kCorrupt, other);
  }
  install_signal_handlers();  // not in the middle of the file
  const StepResult result = run_steps(job);
  if (result.stopped) return stopped_exit();
  if (!quiet) {
    print("update " + std::to_string(result.first_step + result.steps - 1) + ": loss " +
          real_text(result.loss) + ", grad_norm " + real_text(result.grad_norm) + "; wrote " +
          dump + "\n");
  }
  return Exit::kDone;
}

}  // namespace headroom
