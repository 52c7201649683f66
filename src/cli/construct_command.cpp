#include "cli/commands.h"
#include "cli/output.h"
#include "cli/run_arguments.h"
#include "cli/table.h"
#include "config/read.h"
#include "core/numbers.h"
#include "core/spelling.h"
#include "theory/construction.h"
#include "train/loop.h"
#include "train/progress.h"

namespace headroom {
namespace {

const ConstructionRow& find_construction(const std::string& name) {
  std::vector<std::string> names;
  for (const ConstructionRow& row : construction_rows()) {
    if (name == row.name) return row;
    names.push_back(row.name);
  }
  throw Error(Exit::kUsage, "construct: unknown construction " + in_quotes(name) +
                                did_you_mean(name, names) + " (constructions: " + join(names) +
                                ")");
}

// Before the values are read: a setting that another construction has is no misspelling here.
void check_names(const ConstructionRow& row, const Fields& settings,
                 std::span<const std::string> sets) {
  std::vector<std::string> names;
  for (const Fields::Field& field : settings.rows()) names.push_back(field.name);
  for (const std::string& item : sets) {
    const std::string name = item.substr(0, item.find('='));
    if (name.empty() || settings.find(name) != nullptr) continue;
    throw Error(Exit::kUsage, "construct: " + std::string(row.name) + " has no setting " +
                                  in_quotes(name) + did_you_mean(name, names) +
                                  " (settings: " + join(names) + ")");
  }
}

RunConfig config_of(const ConstructionRow& row, const Construction& construction) {
  RunConfig config;
  config.name = row.name;
  config.seed = construction.seed();
  try {
    config.task = construction.task();
    config.model = construction.model();
    config.train.steps = 0;
    validate(config);
  } catch (const Error& error) {
    throw Error(error.code(), "construct " + config.name + ": " + error.what());
  }
  return config;
}

json::Value record_of(const ConstructionRow& row, const Construction& construction,
                      const Fields& settings) {
  json::Value record;
  json::add(record, "name", json::text(row.name));
  json::add(record, "settings", write_fields(settings));
  if (const std::optional<double> loss = construction.expected_loss()) {
    json::add(record, "expected_loss", json::number(*loss));
    json::add(record, "formula", json::text(row.formula));
  }
  return record;
}

}  // namespace

Exit construct_command(Arguments args) {
  std::string name, out;
  std::vector<std::string> sets;
  std::optional<std::uint64_t> threads;
  bool force = false, quiet = false;
  CommandLine line(
      "construct",
      "Writes a model whose parameters are set by hand, as theory says, as a run directory, and "
      "evaluates it.",
      "headroom construct full_rank --set dim=64 --set points=16 --set beta=400 --out runs/exact\n"
      "headroom construct talking_heads --set dim=64 --set key_size=4 --out runs/talking\n"
      "headroom construct full_rank --set query=separate --set points_from=orthonormal --set "
      "points=2 --out runs/pair\n"
      "headroom describe constructions");
  line.argument("NAME", name, "The construction; `headroom describe constructions` lists them.");
  line.texts("--set", sets, "KEY=VALUE", "Change a setting of the construction; may be repeated.");
  line.text("--out", out, "DIR", "The run directory to make; must be given.");
  line.flag("--force", force, "Move a used run directory aside instead of refusing it.");
  threads_flag(line, threads);
  line.flag("--quiet", quiet, "Print nothing unless something goes wrong.");
  if (!line.parse(args)) return Exit::kDone;

  const ConstructionRow& row = find_construction(name);
  const std::unique_ptr<Construction> construction = row.make();
  Fields settings;
  construction->declare(settings);
  check_names(row, settings, sets);
  read_settings(settings, sets);
  const RunConfig config = config_of(row, *construction);
  if (out.empty()) {
    throw Error(Exit::kUsage, "construct: --out DIR says where to write; it must be given");
  }

  TrainJob job = train_job(config, "construct", args);
  job.out = out;
  job.force = force;
  job.quiet = quiet;
  job.notes.push_back(choose_threads(threads));
  for (const std::string& warning : warnings(config)) job.notes.push_back("warning: " + warning);
  job.construction = record_of(row, *construction, settings);
  job.set_parameters = [&](const ParamTable& table, std::span<float> params) {
    HandSet parameters(table, params);
    construction->set(parameters);
    parameters.finish();
  };
  const TrainResult result = train(job);
  if (!quiet && result.score) {
    print("loss " + real_text(result.score->loss.mean) + " +- " +
          short_text(result.score->loss.sem) + " on " + grouped(result.score->items) +
          " held-out items; wrote " + out + "\n");
    if (const std::optional<double> loss = construction->expected_loss()) {
      print("formula " + real_text(*loss) + ": " + row.formula + "\n");
    }
  }
  return result.exit;
}

}  // namespace headroom
