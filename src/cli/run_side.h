// What `diff` and `report` read of a run directory, or of a config that has not run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/run_config.h"
#include "core/json.h"
#include "model/budget.h"

namespace headroom {

// The last row of eval.csv.
struct HeldOut {
  std::uint64_t step = 0;
  double loss = 0, loss_sem = 0;
};

struct RunSide {
  std::string path;
  RunConfig config;
  json::Value given, resolved;
  Budget budget;
  double step_flops = 0;
  std::optional<json::Value> run;  // run.json, of a run directory
  std::optional<HeldOut> held_out;
};

// `path` is a run directory or a config file. Throws Error as the readers of config.json and
// run.json do.
RunSide read_run_side(const std::string& path);

// The whole rows of a CSV by column; a last row that a kill cut short is left out, and a cell that
// is no number (a name, or nothing) is nan. Empty where there is no file.
struct CsvTable {
  std::map<std::string, std::vector<double>> columns;
  std::vector<std::string> first;  // the first column as text
  std::size_t rows = 0;
  std::string file;

  // Throws Error(kFile) where there is none of that name.
  const std::vector<double>& column(const std::string& name) const;
};
CsvTable read_csv(const std::filesystem::path& file);

// Texts of a run.json's fields; "-" for what is not there.
std::string plain_text(const json::Value* value);
std::string whole_text(const json::Value* value);  // grouped digits
double real_of(const json::Value* value);          // nan where it is no number
// The digits that a loss of this size needs.
std::string loss_text(double value, double loss);

// How a run ended, as (title, text) in a fixed order: exit reason, updates, last held-out loss,
// best, elapsed.
std::vector<std::pair<std::string, std::string>> endings(const RunSide& side);

}  // namespace headroom
