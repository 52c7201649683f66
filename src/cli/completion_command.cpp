// `headroom completion` and `headroom man`: both written from what the commands say they take.
#include <algorithm>
#include <initializer_list>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/version.h"
#include "config/run_config.h"
#include "core/error.h"
#include "core/spelling.h"

namespace headroom {
namespace {

// Every command with what it takes, in the order of the table.
std::vector<CommandSpec> command_specs() {
  return CommandLine::collect([] {
    for (const Command& command : commands()) command.run({});
  });
}

// "model.layers=" for every field of the config that takes a value.
void add_paths(const Fields& fields, const std::string& prefix, std::vector<std::string>& out) {
  for (const Fields::Field& field : fields.rows()) {
    const std::string path = prefix + field.name;
    if (field.section == nullptr || field.kind == Fields::Kind::kIntegerOrSection || field.nullable)
      out.push_back(path + "=");
    if (field.section != nullptr) add_paths(*field.section, path + ".", out);
  }
}

std::vector<std::string> config_paths() {
  RunConfig config;
  Fields fields;
  config.declare(fields);
  std::vector<std::string> out;
  add_paths(fields, "", out);
  return out;
}

// The values that "lines|json" stands for; none where the value is anything.
std::string choices(const std::string& value) {
  if (value.find('|') == std::string::npos) return "";
  std::string out = value;
  std::replace(out.begin(), out.end(), '|', ' ');
  return out;
}

// One function for both shells: zsh runs it through bashcompinit.
std::string completion_script(const std::string& shell) {
  const std::vector<CommandSpec> specs = command_specs();
  std::string names, cases;
  for (const CommandSpec& spec : specs) {
    names += spec.command + " ";
    std::string flags, values;
    for (const CommandSpec::Option& option : spec.options) {
      flags += option.name + (option.joined ? " " + option.name + "=" + option.value : "") + " ";
      if (option.value.empty() || option.joined) continue;
      const std::string known = choices(option.value);
      values += "        " + option.name + ") ";
      if (option.value == "KEY=VALUE" && spec.command != "construct")
        values += "words=$fields ;;\n";
      else if (!known.empty())
        values += "words='" + known + "' ;;\n";
      else
        values += "files=1 ;;\n";
    }
    const std::string argument = spec.arguments.empty() ? "" : choices(spec.arguments.front().name);
    cases += "    " + spec.command + ")\n      flags='" + flags + "--help'\n" +
             (argument.empty() ? "" : "      words='" + argument + "'\n") +
             (values.empty() ? "" : "      case $previous in\n" + values + "      esac ;;\n") +
             (values.empty() ? "      ;;\n" : "");
  }
  std::string fields;
  for (const std::string& path : config_paths()) fields += path + " ";
  return std::string(shell == "zsh" ? "#compdef headroom\n# Completion of headroom for zsh: put it "
                                      "in a folder of $fpath as _headroom, or\n#   source "
                                      "<(headroom completion zsh)\nautoload -U +X bashcompinit "
                                      "&& bashcompinit\n"
                                    : "# Completion of headroom for bash: source <(headroom "
                                      "completion bash)\n") +
         "_headroom() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local flags= words= files= fields='" +
         fields +
         "'\n"
         "  COMPREPLY=()\n"
         "  # bash breaks words at =: what follows a field's = is the user's own.\n"
         "  if [ \"$previous\" = = ] || [ \"$current\" = = ]; then return; fi\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W '" +
         names +
         "help --help --version' -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]} in\n"
         "    help) words='" +
         names + "' ;;\n" + cases +
         "  esac\n"
         "  if [ -z \"$files$words\" ] || [[ $current == -* ]]; then words=\"$flags\"; fi\n"
         "  if [[ $current == -* ]] || [ -z \"$files\" ]; then\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  fi\n"
         "  if [[ $current != -* ]] && { [ -n \"$files\" ] || [ \"$words\" = \"$flags\" ]; }; "
         "then\n"
         "    COMPREPLY+=($(compgen -f -- \"$current\"))\n"
         "  fi\n"
         "  # No space behind KEY=.\n"
         "  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace "
         "2>/dev/null; fi\n"
         "}\n"
         "complete -o filenames -F _headroom headroom\n" +
         (shell == "zsh"
              ? "# Loaded from $fpath by the first completion, it answers that one too.\n"
                "if [[ ${funcstack[1]} == _headroom ]]; then eval "
                "\"${_comps[headroom]}\"; fi\n"
              : "");
}

// Text as troff takes it: no line that begins with a dot, no escape but ours.
std::string troff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out += std::string("\\&") + c;
    else
      out += c;
  }
  return out;
}

std::string manual() {
  std::string out = ".TH HEADROOM 1 \"\" \"headroom " + version() +
                    "\" \"User Commands\"\n.SH NAME\nheadroom \\- train small transformers on "
                    "CPUs, to study attention heads\n.SH SYNOPSIS\n.B headroom\n.I COMMAND\n"
                    "[ARGUMENTS]\n.SH COMMANDS\n";
  for (const CommandSpec& spec : command_specs()) {
    out += ".SS headroom " + spec.command;
    for (const CommandSpec::Argument& argument : spec.arguments) {
      out += " " + troff(argument.required ? argument.name : "[" + argument.name + "]") +
             (argument.repeats ? "..." : "");
    }
    out += "\n" + troff(spec.purpose) + "\n";
    for (const CommandSpec::Argument& argument : spec.arguments)
      out += ".TP\n.I " + troff(argument.name) + "\n" + troff(argument.sentence) + "\n";
    for (const CommandSpec::Option& option : spec.options) {
      const std::string value = option.value.empty() ? ""
                                : option.joined      ? "[=" + option.value + "]"
                                                     : " " + option.value;
      out += ".TP\n.B " + troff(option.name + value) + (option.repeats ? " ..." : "") + "\n" +
             troff(option.sentence) + "\n";
    }
    out += ".PP\nExamples:\n.nf\n.RS\n" + troff(spec.examples) + "\n.RE\n.fi\n";
  }
  out += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : std::initializer_list<std::pair<Exit, const char*>>{
           {Exit::kDone, "done"},
           {Exit::kUsage, "usage or config error"},
           {Exit::kFile, "file or disk error"},
           {Exit::kDiverged, "diverged: a number that is not finite"},
           {Exit::kCorrupt, "checkpoint corrupt or incompatible"},
           {Exit::kCheckFailed, "a check failed"},
           {Exit::kStopped, "stopped early on purpose, with a good checkpoint"},
           {Exit::kInterrupted, "interrupted"}}) {
    out += ".TP\n.B " + std::to_string(static_cast<int>(code)) + "\n" + meaning + "\n";
  }
  return out +
         ".SH ENVIRONMENT\n.TP\n.B OMP_NUM_THREADS\nThreads, where \\-\\-threads does not say; "
         "the default is the cores this process may use.\n.TP\n.B NO_COLOR\nNo colours.\n"
         ".SH SEE ALSO\nheadroom describe lists tasks, attention variants and every field of the "
         "config.\n";
}

}  // namespace

Exit completion_command(Arguments args) {
  std::string shell;
  CommandLine line(
      "completion",
      "Prints a script that lets the shell complete commands, flags and, after --set, "
      "the fields of the config.",
      "source <(headroom completion bash)\n"
      "headroom completion bash > ~/.local/share/bash-completion/completions/headroom\n"
      "headroom completion zsh > ~/.zsh/completions/_headroom");
  line.argument("bash|zsh", shell, "The shell.");
  if (!line.parse(args)) return Exit::kDone;
  const std::vector<std::string> known{"bash", "zsh"};
  if (std::find(known.begin(), known.end(), shell) == known.end()) {
    throw Error(Exit::kUsage, "completion: expected one of bash, zsh, found " + in_quotes(shell) +
                                  did_you_mean(shell, known));
  }
  print(completion_script(shell));
  return Exit::kDone;
}

Exit man_command(Arguments args) {
  CommandLine line("man", "Prints the manual page, every command's help in one.",
                   "headroom man | man -l -\nheadroom man > ~/.local/share/man/man1/headroom.1");
  if (!line.parse(args)) return Exit::kDone;
  print(manual());
  return Exit::kDone;
}

}  // namespace headroom
