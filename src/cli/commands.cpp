#include "cli/commands.h"

#include <algorithm>
#include <vector>

#include "cli/output.h"
#include "cli/version.h"
#include "core/spelling.h"

namespace headroom {
namespace {

constexpr Command kCommands[] = {
    {"train", "train the model of a config; the main job", train_command},
    {"eval", "evaluate a checkpoint on the held-out stream, beside the baselines", eval_command},
    {"inspect", "look into a checkpoint's heads: ranks, attention, what each is worth",
     inspect_command},
    {"check", "look at a config before it runs: sizes, budget, time, gradients", check_command},
    {"diff", "say what differs between two runs or configs, and how they ended", diff_command},
    {"report", "write one HTML page about a run or a sweep: curves, configs, tables",
     report_command},
    {"bench", "time training steps: where the time goes, and how near the roofline", bench_command},
    {"selftest", "prove for a config that resuming, or the threads, change no bit",
     selftest_command},
    {"step", "take a few steps and dump all they computed", step_command},
    {"construct", "write a model set by hand, as theory says, as a run", construct_command},
    {"grid", "expand a sweep into one train command a line", grid_command},
    {"describe", "list tasks, attention variants and every config field", describe_command},
    {"completion", "print the completion script of a shell", completion_command},
    {"man", "print the manual page", man_command},
};

std::string help_text() {
  std::string out =
      "Usage: headroom COMMAND [ARGUMENTS]\n\n"
      "Trains small transformers on CPUs to study what attention heads can and cannot do: how "
      "many, of what rank,\n"
      "mixed or not.\n\nCommands:\n";
  std::size_t width = 0;
  for (const Command& command : kCommands)
    width = std::max(width, std::string(command.name).size());
  for (const Command& command : kCommands) {
    const std::string name = command.name;
    out += "  " + name + std::string(width - name.size() + 2, ' ') + command.summary + "\n";
  }
  return out +
         "\nOptions:\n"
         "  -h, --help     Show this help; after a command, the command's.\n"
         "  --version      Show version, commit, compiler, oneDNN version and instruction set.\n\n"
         "Example:\n  headroom describe tasks\n";
}

const Command& find_command(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : kCommands) {
    if (name == command.name) return command;
    names.push_back(command.name);
  }
  throw Error(Exit::kUsage, "unknown command " + in_quotes(name) + did_you_mean(name, names) +
                                " (commands: " + join(names) + ")");
}

[[noreturn]] void unknown_flag(const std::string& item) {
  const std::string name = item.substr(0, item.find('='));
  const std::vector<std::string> names{"--help", "--version"};
  const std::string near = did_you_mean(name, names);
  throw Error(Exit::kUsage, "unknown flag " + in_quotes(name) +
                                (near.empty() ? "; flags of a command go after its name" : near));
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

Exit run_command(Arguments args) {
  if (args.empty()) {
    print(help_text());
    return Exit::kUsage;
  }
  const std::string& first = args.front();
  if (first == "--help" || first == "-h" || (first == "help" && args.size() == 1)) {
    print(help_text());
    return Exit::kDone;
  }
  if (first == "--version") {
    print(version_text());
    return Exit::kDone;
  }
  if (first == "help") {
    const std::vector<std::string> help{"--help"};
    return find_command(args[1]).run(help);
  }
  if (first.starts_with("-")) unknown_flag(first);
  return find_command(first).run(args.subspan(1));
}

}  // namespace headroom
