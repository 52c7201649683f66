#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>

#include "cli/output.h"
#include "cli/table.h"
#include "config/run_config.h"
#include "core/error.h"
#include "core/numbers.h"
#include "core/spelling.h"

namespace headroom {
namespace {

enum class Takes { kNothing, kOneItem, kOptionalText };

struct Option {
  std::string name;   // "--set"
  std::string value;  // "KEY=VALUE"; "" for a flag
  std::string sentence;
  Takes takes = Takes::kOneItem;
  bool repeats = false;
  std::vector<std::string> given;  // as CLI11 collected it
  std::function<void(const std::vector<std::string>&)>
      use;  // checks and stores; called where it was given
};

struct Argument {
  std::string name, sentence;
  bool required = true;
  std::string* storage = nullptr;
  std::vector<std::string>* all = nullptr;  // instead of storage: takes all that follow
};

std::vector<CommandSpec>* collected = nullptr;  // where collect() wants the specs

std::string shown(const Option& option) {
  if (option.takes == Takes::kOptionalText) return option.name + "[=" + option.value + "]";
  return option.value.empty() ? option.name : option.name + " " + option.value;
}

std::string row(const std::string& left, const std::string& sentence, std::size_t width) {
  return "  " + left + std::string(width - left.size() + 2, ' ') +
         wrapped(words_of(sentence), width + 4, width + 4) + "\n";
}

std::uint64_t read_whole_option(const std::string& text, IntegerRange range) {
  const WholeRead read = read_whole(text);
  if (read.status != WholeStatus::kOk || read.value < range.low || read.value > range.high) {
    throw Error(Exit::kUsage, "expected a whole number from " + std::to_string(range.low) + " to " +
                                  std::to_string(range.high) + ", found " + in_quotes(text));
  }
  return read.value;
}

}  // namespace

struct CommandLine::Impl {
  std::string command, purpose, examples;
  std::vector<Option> options;
  std::vector<Argument> arguments;

  [[noreturn]] void fail(const std::string& message) const {
    throw Error(Exit::kUsage, command + ": " + message);
  }

  void add(Option option) { options.push_back(std::move(option)); }

  const Option* find(const std::string& name) const {
    const auto at = std::find_if(options.begin(), options.end(),
                                 [&](const Option& o) { return o.name == name; });
    return at == options.end() ? nullptr : &*at;
  }

  [[noreturn]] void unknown_flag(const std::string& name) const {
    std::vector<std::string> names{"--help"};
    for (const Option& option : options) names.push_back(option.name);
    std::string message = "unknown flag " + in_quotes(name);
    const std::string near = did_you_mean(name, names);
    if (!near.empty()) fail(message + near);
    if (find("--set") != nullptr) {
      RunConfig config;
      Fields fields;
      config.declare(fields);
      std::string word = name.substr(std::min(name.find_first_not_of('-'), name.size()));
      std::replace(word.begin(), word.end(), '-', '_');
      if (const std::string path = word.empty() ? "" : find_path(fields, word); !path.empty()) {
        fail(message + "; a field of the config is set by --set " + path + "=VALUE");
      }
    }
    fail(message + "; known: " + join(names));
  }

  static bool is_flag(const std::string& item) { return item.size() > 1 && item.front() == '-'; }

  // The items as CLI11 cannot misread them: flags with their values in one word, then the arguments
  // behind --. nullopt where help is asked for.
  std::optional<std::vector<std::string>> normalized(std::span<const std::string> args) const {
    std::vector<std::string> flags, rest;
    bool help = false, only_arguments = false;
    std::string missing;
    for (std::size_t i = 0; i < args.size(); ++i) {
      const std::string& item = args[i];
      if (only_arguments || !is_flag(item)) {
        rest.push_back(item);
        continue;
      }
      if (item == "--") {
        only_arguments = true;
        continue;
      }
      const std::string name = item.substr(0, item.find('='));
      if (name == "--help" || name == "-h") {
        help = true;
        continue;
      }
      const Option* option = find(name);
      if (option == nullptr) unknown_flag(name);
      const bool joined = name.size() < item.size();
      if (option->takes == Takes::kNothing) {
        if (joined) fail(name + " takes no value");
        flags.push_back(item);
      } else if (joined || option->takes == Takes::kOptionalText) {
        if (item.ends_with('=') && name.size() + 1 == item.size()) missing = name;
        flags.push_back(item);
      } else if (i + 1 < args.size() && !args[i + 1].empty() && args[i + 1] != "--" &&
                 find(args[i + 1].substr(0, args[i + 1].find('='))) == nullptr) {
        flags.push_back(name + "=" + args[++i]);
      } else {
        missing = name;
        if (i + 1 < args.size() && args[i + 1].empty()) ++i;
      }
    }
    if (help) return std::nullopt;
    if (!missing.empty()) fail(missing + " needs a value: " + shown(*find(missing)));
    if (!rest.empty()) {
      flags.push_back("--");
      flags.insert(flags.end(), rest.begin(), rest.end());
    }
    return flags;
  }

  CommandSpec spec() const {
    CommandSpec out{command, purpose, examples, {}, {}};
    for (const Option& o : options)
      out.options.push_back(
          {o.name, o.value, o.sentence, o.repeats, o.takes == Takes::kOptionalText});
    for (const Argument& a : arguments)
      out.arguments.push_back({a.name, a.sentence, a.required, a.all != nullptr});
    return out;
  }

  std::string usage() const {
    std::vector<std::string> words{"headroom", command};
    for (const Argument& argument : arguments) {
      words.push_back((argument.required ? argument.name : "[" + argument.name + "]") +
                      (argument.all != nullptr ? "..." : ""));
    }
    for (const Option& option : options)
      words.push_back("[" + shown(option) + "]" + (option.repeats ? "..." : ""));
    return "Usage: " + wrapped(words, 7, 9) + "\n";
  }
};

CommandLine::CommandLine(std::string command, std::string purpose, std::string examples)
    : impl_(new Impl{std::move(command), std::move(purpose), std::move(examples), {}, {}}) {}
CommandLine::~CommandLine() = default;

void CommandLine::flag(const std::string& name, bool& storage, const std::string& sentence) {
  impl_->add({name, "", sentence, Takes::kNothing, false, {}, [&storage](const auto&) {
                storage = true;
              }});
}

void CommandLine::text(const std::string& name, std::string& storage, const std::string& value,
                       const std::string& sentence) {
  impl_->add({name, value, sentence, Takes::kOneItem, false, {}, [&](const auto& v) {
                storage = v.back();
              }});
}

void CommandLine::text(const std::string& name, std::optional<std::string>& storage,
                       const std::string& value, const std::string& sentence) {
  impl_->add({name, value, sentence, Takes::kOneItem, false, {}, [&](const auto& v) {
                storage = v.back();
              }});
}

void CommandLine::choice(const std::string& name, std::string& storage,
                         std::vector<std::string> names, const std::string& sentence) {
  const std::string value = join(names, "|");
  impl_->add({name, value, sentence, Takes::kOneItem, false, {}, [&storage, names](const auto& v) {
                if (std::find(names.begin(), names.end(), v.back()) == names.end()) {
                  throw Error(Exit::kUsage, "expected one of " + join(names) + ", found " +
                                                in_quotes(v.back()) +
                                                did_you_mean(v.back(), names));
                }
                storage = v.back();
              }});
}

void CommandLine::whole(const std::string& name, std::uint64_t& storage, IntegerRange range,
                        const std::string& value, const std::string& sentence) {
  impl_->add({name, value, sentence, Takes::kOneItem, false, {}, [&storage, range](const auto& v) {
                storage = read_whole_option(v.back(), range);
              }});
}

void CommandLine::whole(const std::string& name, std::optional<std::uint64_t>& storage,
                        IntegerRange range, const std::string& value, const std::string& sentence) {
  impl_->add({name, value, sentence, Takes::kOneItem, false, {}, [&storage, range](const auto& v) {
                storage = read_whole_option(v.back(), range);
              }});
}

void CommandLine::texts(const std::string& name, std::vector<std::string>& storage,
                        const std::string& value, const std::string& sentence) {
  impl_->add({name, value, sentence, Takes::kOneItem, true, {}, [&storage](const auto& v) {
                storage = v;
              }});
}

void CommandLine::flag_or_text(const std::string& name, std::optional<std::string>& storage,
                               const std::string& alone, const std::string& value,
                               const std::string& sentence) {
  impl_->add(
      {name, value, sentence, Takes::kOptionalText, false, {}, [&storage, alone](const auto& v) {
         storage =
             v.back() == "true" ? alone : v.back();  // CLI11's word for a flag without a value
       }});
}

void CommandLine::argument(const std::string& name, std::string& storage,
                           const std::string& sentence) {
  impl_->arguments.push_back({name, sentence, true, &storage, nullptr});
}

void CommandLine::optional_argument(const std::string& name, std::string& storage,
                                    const std::string& sentence) {
  impl_->arguments.push_back({name, sentence, false, &storage, nullptr});
}

void CommandLine::arguments(const std::string& name, std::vector<std::string>& storage,
                            const std::string& sentence) {
  impl_->arguments.push_back({name, sentence, true, nullptr, &storage});
}

std::vector<CommandSpec> CommandLine::collect(const std::function<void()>& run) {
  std::vector<CommandSpec> specs;
  collected = &specs;
  try {
    run();
  } catch (...) {
    collected = nullptr;
    throw;
  }
  collected = nullptr;
  return specs;
}

void CommandLine::set_items(std::vector<std::string>& storage) {
  texts("--set", storage, "KEY=VALUE",
        "Set a field of the config by its dotted path, over what the file says; VALUE is JSON or "
        "text, null "
        "restores the default. May be repeated, the last of two wins.");
}

bool CommandLine::parse(std::span<const std::string> args) {
  if (collected != nullptr) {
    collected->push_back(impl_->spec());
    return false;
  }
  std::optional<std::vector<std::string>> items = impl_->normalized(args);
  if (!items) {
    print(help());
    return false;
  }
  CLI::App app;
  app.set_help_flag();
  for (Option& option : impl_->options) {
    option.given.clear();
    CLI::Option* added = option.takes == Takes::kOneItem
                             ? app.add_option(option.name, option.given)->allow_extra_args(false)
                             : app.add_flag(option.name, option.given);
    added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  for (Argument& argument : impl_->arguments) {
    if (argument.all != nullptr)
      app.add_option(argument.name, *argument.all);
    else
      app.add_option(argument.name, *argument.storage);
  }
  app.allow_extras();
  try {
    std::reverse(items->begin(), items->end());  // CLI11 takes them from the back
    app.parse(std::move(*items));
  } catch (const CLI::Error& error) {
    impl_->fail(error.what());
  }
  for (const Option& option : impl_->options) {
    if (option.given.empty()) continue;
    try {
      option.use(option.given);
    } catch (const Error& error) {
      impl_->fail(option.name + ": " + error.what());
    }
  }
  for (const Argument& argument : impl_->arguments) {
    if (argument.required && app.get_option(argument.name)->count() == 0) {
      impl_->fail(argument.name + " is missing; headroom " + impl_->command + " --help shows how");
    }
  }
  std::vector<std::string> extras = app.remaining();
  std::erase(extras, "--");
  if (!extras.empty()) impl_->fail("unexpected argument " + in_quotes(extras.front()));
  return true;
}

std::string CommandLine::help() const {
  std::size_t width = std::string("-h, --help").size();
  for (const Argument& argument : impl_->arguments) width = std::max(width, argument.name.size());
  for (const Option& option : impl_->options) width = std::max(width, shown(option).size());
  std::string out = impl_->usage() + "\n" + wrapped(words_of(impl_->purpose), 0, 0) + "\n";
  if (!impl_->arguments.empty()) out += "\nArguments:\n";
  for (const Argument& argument : impl_->arguments)
    out += row(argument.name, argument.sentence, width);
  out += "\nOptions:\n";
  for (const Option& option : impl_->options) out += row(shown(option), option.sentence, width);
  out += row("-h, --help", "Show this help.", width);
  out += impl_->examples.find('\n') == std::string::npos ? "\nExample:\n" : "\nExamples:\n";
  std::string line;
  for (char c : impl_->examples + "\n") {
    if (c != '\n') {
      line += c;
    } else {
      out += "  " + line + "\n";
      line.clear();
    }
  }
  return out;
}

}  // namespace headroom
