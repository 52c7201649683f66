// The table of commands: a new one is a file of its own, its function here and a row in
// commands.cpp.
#pragma once

#include <span>
#include <string>

#include "core/error.h"

namespace headroom {

// `args` is what follows the command's name. Results go to stdout; mistakes and failures throw
// Error.
using Arguments = std::span<const std::string>;
Exit train_command(Arguments args);
Exit eval_command(Arguments args);
Exit bench_command(Arguments args);
Exit check_command(Arguments args);
Exit step_command(Arguments args);
Exit completion_command(Arguments args);
Exit construct_command(Arguments args);
Exit describe_command(Arguments args);
Exit diff_command(Arguments args);
Exit grid_command(Arguments args);
Exit inspect_command(Arguments args);
Exit man_command(Arguments args);
Exit report_command(Arguments args);
Exit selftest_command(Arguments args);

struct Command {
  const char* name;
  const char* summary;  // one line, a verb first
  Exit (*run)(Arguments args);
};
std::span<const Command> commands();

// Everything after the program's name.
Exit run_command(Arguments args);

}  // namespace headroom
