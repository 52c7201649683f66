#include "cli/run_arguments.h"

#include "config/read.h"
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
  set_threads(choice.threads);
  return std::to_string(choice.threads) + (choice.threads == 1 ? " thread (" : " threads (") +
         choice.reason + ")";
}

void ConfigArguments::declare(CommandLine& line) {
  line.argument("CONFIG", path, "The config, a JSON file.");
  line.set_items(sets);
  threads_flag(line, threads);
}

std::string ConfigArguments::choose_threads() const { return headroom::choose_threads(threads); }

RunConfig ConfigArguments::read() const { return read_run_config(path, sets); }

}  // namespace headroom
