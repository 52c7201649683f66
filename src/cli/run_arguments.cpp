#include "cli/run_arguments.h"

#include "cli/version.h"
#include "config/read.h"
#include "config/write.h"
#include "core/parallel.h"

namespace headroom {

void threads_flag(CommandLine& line, std::optional<std::uint64_t>& threads) {
  line.whole(
      "--threads", threads, {1, 4096}, "N",
      "Threads to use; the default is OMP_NUM_THREADS, else the cores this process may use.");
}

std::string choose_threads(const std::optional<std::uint64_t>& threads) {
  const ThreadChoice choice =
      threads ? ThreadChoice{static_cast<int>(*threads), "--threads"} : default_threads();
  require_threads(choice.threads, choice.reason);
  set_threads(choice.threads);
  return std::to_string(choice.threads) + (choice.threads == 1 ? " thread (" : " threads (") +
         choice.reason + ")";
}

TrainJob train_job(const RunConfig& config, const std::string& command,
                   std::span<const std::string> args) {
  TrainJob job;
  job.name = config.name;
  job.task = config.task;
  job.model = config.model;
  job.train = config.train;
  job.eval = config.eval;
  job.run = config.run;
  job.init_seed = config.init_seed();
  job.data_seed = config.data_seed();
  job.config_text = config_text(config);
  job.version = version();
  job.commit = commit();
  job.command_line = {"headroom", command};
  job.command_line.insert(job.command_line.end(), args.begin(), args.end());
  return job;
}

void ConfigArguments::declare(CommandLine& line) {
  line.argument("CONFIG", path, "The config, a JSON file.");
  line.set_items(sets);
  threads_flag(line, threads);
}

std::string ConfigArguments::choose_threads() const { return headroom::choose_threads(threads); }

RunConfig ConfigArguments::read() const { return read_run_config(path, sets); }

}  // namespace headroom
