#include <filesystem>

#include "cli/commands.h"
#include "cli/run_arguments.h"
#include "cli/run_checkpoint.h"
#include "config/read.h"
#include "config/resume.h"
#include "config/write.h"
#include "core/spelling.h"
#include "train/loop.h"
#include "train/progress.h"
#include "train/time_budget.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

// Whether --resume=HOW continues the run in `out` (then what that needs is in the job) or, with
// auto, starts it.
void choose_resume(const std::string& how, const RunConfig& config, TrainJob& job) {
  if (how != "yes" && how != "auto") {
    throw Error(Exit::kUsage,
                "--resume: expected --resume or --resume=auto, found " + in_quotes(how));
  }
  if (job.force) {
    throw Error(Exit::kUsage, "--resume continues a run and --force starts it again; give one");
  }
  const std::string out = job.out.string();
  if (fs::exists(job.out / "config.json")) {
    const RunConfig run = read_run_config((job.out / "config.json").string());
    require_resumable(run, config, out);
    job.resume = {.steps = run.train.steps, .log_every = run.run.log_every};
    return;
  }
  const bool used = fs::exists(job.out) && !(fs::is_directory(job.out) && fs::is_empty(job.out));
  if (used) throw Error(Exit::kFile, out + ": is no run directory, config.json is missing in it");
  if (how == "auto") return;
  throw Error(Exit::kFile, out +
                               ": no run to resume there; --out names another directory, "
                               "--resume=auto starts a run where there is none");
}

// And the note that says so.
std::string choose_budget(const std::string& text, TrainJob& job) {
  if (text == "auto") {
    job.time_budget_s = scheduler_seconds_left();
    if (!job.time_budget_s) return "no time budget: SLURM_JOB_END_TIME is not set";
  } else {
    job.time_budget_s = read_duration_s(text);
  }
  return "time budget " + duration_text(*job.time_budget_s);
}

}  // namespace

Exit train_command(Arguments args) {
  ConfigArguments arguments;
  std::optional<std::string> out, init_from, resume, budget;
  bool force = false, quiet = false;
  CommandLine line(
      "train",
      "Trains the model of a config and writes its curves and checkpoints to a run directory.",
      "headroom train configs/quickstart/rank-16.json\n"
      "headroom train my.json --set train.optimizer.lr=3e-3 --set seed=1 --out runs/lr-3e-3\n"
      "headroom train my.json --out runs/mine --resume=auto --time-budget 1h30m");
  arguments.declare(line);
  line.text("--out", out, "DIR", "The run directory to make; the default is runs/NAME-HASH.");
  line.flag_or_text("--resume", resume, "yes", "auto",
                    "Continue the run in the directory from its newest checkpoint, to the same "
                    "files as if it had never stopped; --resume=auto starts it where there is "
                    "none, so that one command serves both.");
  line.flag("--force", force, "Move a used run directory aside instead of refusing it.");
  line.text("--init-from", init_from, "FILE",
            "Start from the parameters of this checkpoint or weights file.");
  line.text(
      "--time-budget", budget, "2h",
      "Stop before this much time is over, with a checkpoint and exit code 75, for --resume to "
      "continue: 2h, 1h30m, 90m, 45s or seconds; auto: at the end of the Slurm job.");
  line.flag("--quiet", quiet, "Print nothing unless something goes wrong.");
  if (!line.parse(args)) return Exit::kDone;

  const RunConfig config = arguments.read();
  TrainJob job = train_job(config, "train", args);
  job.force = force;
  job.quiet = quiet;
  job.notes.push_back(arguments.choose_threads());
  if (budget) job.notes.push_back(choose_budget(*budget, job));
  for (const std::string& warning : warnings(config)) job.notes.push_back("warning: " + warning);
  if (init_from) job.init_from = *init_from;
  job.out = out ? fs::path(*out) : default_run_directory(config);
  if (resume) choose_resume(*resume, config, job);
  if (init_from && !job.resume) {
    if (const std::string other = other_model(*init_from, config); !other.empty())
      job.notes.push_back("warning: " + other);
  }
  if (!out && !job.resume) fs::create_directories(job.out.parent_path());
  return train(job).exit;
}

}  // namespace headroom
