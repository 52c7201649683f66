// The flags and arguments of one command, with the manners that all commands share:
//  - an unknown flag is named first, with the nearest known one, whatever else is wrong;
//  - a flag with a value takes exactly the next item, whatever it looks like (`--clip -1`), or what
//    follows `=`; only a known flag in its place means that the value was forgotten;
//  - a repeated flag collects (values) or the last one wins; after `--` everything is an argument;
//  - every mistake is Error(kUsage), one line; --help prints the help.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/fields.h"

namespace headroom {

// What a command takes, for shell completion and the manual.
struct CommandSpec {
  struct Option {
    std::string name, value, sentence;     // "--set", "KEY=VALUE"; value "" for a flag
    bool repeats = false, joined = false;  // joined: --resume[=auto], never --resume auto
  };
  struct Argument {
    std::string name, sentence;
    bool required = true, repeats = false;
  };
  std::string command, purpose, examples;
  std::vector<Option> options;
  std::vector<Argument> arguments;
};

class CommandLine {
 public:
  // `purpose`: one sentence. `examples`: command lines, one a line.
  CommandLine(std::string command, std::string purpose, std::string examples);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // `name` is "--force"; `value` is how the help calls what it takes: "DIR". Storage keeps its
  // value where the flag is not given, and must outlive parse().
  void flag(const std::string& name, bool& storage, const std::string& sentence);
  void text(const std::string& name, std::string& storage, const std::string& value,
            const std::string& sentence);
  void text(const std::string& name, std::optional<std::string>& storage, const std::string& value,
            const std::string& sentence);
  // One of `names`.
  void choice(const std::string& name, std::string& storage, std::vector<std::string> names,
              const std::string& sentence);
  void whole(const std::string& name, std::uint64_t& storage, IntegerRange range,
             const std::string& value, const std::string& sentence);
  void whole(const std::string& name, std::optional<std::uint64_t>& storage, IntegerRange range,
             const std::string& value, const std::string& sentence);
  // May be given several times, one item each.
  void texts(const std::string& name, std::vector<std::string>& storage, const std::string& value,
             const std::string& sentence);
  // Without `=` after it, it stands for `alone`: --resume or --resume=auto.
  void flag_or_text(const std::string& name, std::optional<std::string>& storage,
                    const std::string& alone, const std::string& value,
                    const std::string& sentence);
  // Arguments, in order; `name` in capitals.
  void argument(const std::string& name, std::string& storage, const std::string& sentence);
  void optional_argument(const std::string& name, std::string& storage,
                         const std::string& sentence);

  // All that follow, at least one; after the other arguments.
  void arguments(const std::string& name, std::vector<std::string>& storage,
                 const std::string& sentence);

  // The usual ones: --set KEY=VALUE.
  void set_items(std::vector<std::string>& storage);

  // False where the help was asked for and has been printed, or where specs are collected.
  bool parse(std::span<const std::string> args);
  std::string help() const;

  // While `run` runs, parse() appends to the list instead of reading anything, and returns false:
  // what commands take can be asked for by calling them.
  static std::vector<CommandSpec> collect(const std::function<void()>& run);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headroom
