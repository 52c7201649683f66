// What the commands that take a config share: reading it, choosing the threads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "config/run_config.h"

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

void threads_flag(CommandLine& line, std::optional<std::uint64_t>& threads);
std::string choose_threads(const std::optional<std::uint64_t>& threads);

}  // namespace headroom
