#include <algorithm>
#include <filesystem>
#include <string_view>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "config/read.h"
#include "config/sweep.h"
#include "config/write.h"
#include "core/file.h"
#include "core/numbers.h"
#include "core/spelling.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

std::string command_of(const Sweep& sweep, const SweepPoint& point) {
  std::string line = "headroom train " + shell_word(sweep.base);
  for (const std::string& item : point.sets) line += " --set " + shell_word(item);
  return line + " --out " + shell_word(point.out.string()) + " --resume=auto --quiet";
}

// Whether its directory holds this very run, ended well. The config counts but for `run`, which
// has no effect on the numbers. What cannot be read is not finished: `train` will say why.
bool is_finished(const SweepPoint& point) {
  try {
    if (!fs::exists(point.out / "run.json")) return false;
    const json::Value record = json::parse_file((point.out / "run.json").string());
    const json::Value* code = record.find("exit_code");
    const auto* number = code == nullptr ? nullptr : std::get_if<json::Number>(&code->data);
    if (number == nullptr) return false;
    const WholeRead read = read_whole(number->text);
    return read.status == WholeStatus::kOk && read.value == 0 &&
           config_hash(read_run_config((point.out / "config.json").string())) == point.hash;
  } catch (const Error&) {
    return false;
  } catch (const fs::filesystem_error&) {
    return false;
  }
}

// `train` makes its run directory but not the folder around it.
void prepare(const Sweep& sweep) {
  std::error_code problem;
  fs::create_directories(sweep.out, problem);
  if (problem) throw Error(Exit::kFile, sweep.out.string() + ": " + problem.message());
  if (!sweep.base_text.empty()) write_file_atomically(sweep.base, sweep.base_text);
}

json::Value point_value(const Sweep& sweep, const SweepPoint& point, bool finished) {
  json::Value values(json::Object{}), value;
  for (const auto& [key, of_point] : point.values) json::add(values, key, of_point);
  json::add(value, "name", json::text(point.name));
  json::add(value, "out", json::text(point.out.string()));
  json::add(value, "set", values);
  json::add(value, "command", json::text(command_of(sweep, point)));
  json::add(value, "finished", json::boolean(finished));
  return value;
}

std::string counted(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

}  // namespace

Exit grid_command(Arguments args) {
  std::string path, format = "lines";
  bool all = false, quiet = false;
  CommandLine line(
      "grid",
      "Expands a sweep file into one `headroom train` command a line, each for a shell, in a fixed "
      "order with a directory of its own. Runs that are finished are left out and others resume, "
      "so "
      "the same line can be run again until all is done. Every config is read before anything is "
      "printed. Relative paths lead from the present folder, where the commands are to run; grid "
      "makes the folder of the run directories. scripts/sweep.sh runs a sweep here and names the "
      "runs that failed; xargs and parallel only say by their exit code that some did, sh whether "
      "the last one did. `headroom describe grid` lists the keys of a sweep file.",
      "headroom grid sweep.json | sh\n"
      "headroom grid sweep.json | OMP_NUM_THREADS=1 xargs -d '\\n' -P 8 -I LINE sh -c LINE\n"
      "headroom grid sweep.json | OMP_NUM_THREADS=1 parallel -j 8\n"
      "headroom grid sweep.json > lines; sbatch --array=1-$(wc -l < lines) --wrap 'sh -c \"$(sed "
      "-n "
      "${SLURM_ARRAY_TASK_ID}p lines)\"'");
  line.argument("SWEEP", path, "The sweep, a JSON file.");
  line.choice(
      "--format", format, {"lines", "json"},
      "lines, or json: a list of {name, out, set, command, finished}; the default is lines.");
  line.flag("--all", all, "Print finished runs too.");
  line.flag("--quiet", quiet, "Say nothing of what is left out.");
  if (!line.parse(args)) return Exit::kDone;

  const Sweep sweep = read_sweep(path);
  std::size_t n_finished = 0;
  std::string lines;
  json::Array values;
  for (const SweepPoint& point : sweep.points) {
    const bool finished = is_finished(point);
    if (finished) ++n_finished;
    if (finished && !all) continue;
    lines += command_of(sweep, point) + "\n";
    values.push_back(point_value(sweep, point, finished));
  }
  if (!values.empty()) prepare(sweep);
  if (!quiet) {
    for (const std::string& note : sweep.notes) print_error(path + ": " + note);
    print_error(path + ": " + counted(sweep.points.size(), "run") + ", " +
                std::to_string(n_finished) + " finished" +
                (n_finished > 0 && !all ? " and left out" : ""));
  }
  print(format == "json" ? json::write(json::Value(std::move(values))) + "\n" : lines);
  return Exit::kDone;
}

}  // namespace headroom
