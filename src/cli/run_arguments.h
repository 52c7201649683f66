// What the commands that take a config share: reading it, choosing the threads.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "config/run_config.h"
#include "train/train_job.h"

namespace headroom {

// CONFIG, --set and --threads.
struct ConfigArguments {
  std::string path;
  std::vector<std::string> sets;
  std::optional<std::uint64_t> threads;

  void declare(CommandLine& line);
  // Sets the number of threads and returns the line that says which and why.
  std::string choose_threads() const;
  RunConfig read() const;  // validated
};

// The job that trains this config for the command line `headroom COMMAND ARGS...`; where to, and
// what else, is the command's to say.
TrainJob train_job(const RunConfig& config, const std::string& command,
                   std::span<const std::string> args);

void threads_flag(CommandLine& line, std::optional<std::uint64_t>& threads);
std::string choose_threads(const std::optional<std::uint64_t>& threads);

}  // namespace headroom
