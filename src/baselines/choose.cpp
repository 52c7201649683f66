// From the names of a config or of --baselines to rows of the table.
#include <algorithm>
#include <cmath>

#include "baselines/baseline.h"
#include "core/error.h"
#include "core/numbers.h"
#include "core/spelling.h"

namespace headroom {

namespace {

bool has_parameter(const BaselineRow& row) { return *row.parameter != '\0'; }

void add(std::vector<BaselineChoice>& chosen, const BaselineChoice& choice) {
  const bool there = std::ranges::any_of(chosen, [&](const BaselineChoice& c) {
    return c.row == choice.row && c.value == choice.value;
  });
  if (!there) chosen.push_back(choice);
}

void add_set(std::vector<BaselineChoice>& chosen, TaskType task, bool slow_too) {
  for (const BaselineRow& row : baseline_rows()) {
    if (!row.serves(task) || (row.cost == Cost::kSlow && !slow_too)) continue;
    if (!has_parameter(row)) add(chosen, {.row = &row});
    for (const double value : row.values) add(chosen, {.row = &row, .value = value});
  }
}

// "ridge_0.1" with the row "ridge": a positive number, whole for a count (K, STEPS, DEPTH).
std::optional<double> value_of(const BaselineRow& row, const std::string& name) {
  const std::string front = std::string(row.name) + "_";
  if (!has_parameter(row) || !name.starts_with(front)) return std::nullopt;
  const RealRead read = read_real(name.substr(front.size()));
  const bool fits = read.status == RealStatus::kOk && read.value > 0 && read.value <= row.most;
  if (!fits || (row.counts && read.value != std::floor(read.value))) return std::nullopt;
  return read.value;
}

std::optional<BaselineChoice> find(TaskType task, const std::string& name) {
  for (const BaselineRow& row : baseline_rows()) {
    if (!row.serves(task)) continue;
    if (!has_parameter(row) && name == row.name) return BaselineChoice{.row = &row};
    if (const auto value = value_of(row, name)) return BaselineChoice{.row = &row, .value = *value};
  }
  return std::nullopt;
}

[[noreturn]] void unknown(TaskType task, const std::string& name, const std::string& where) {
  std::vector<BaselineChoice> all;
  add_set(all, task, true);
  std::vector<std::string> known, shown{"default", "all"};
  for (const BaselineChoice& choice : all) known.push_back(choice.name());
  for (const BaselineRow& row : baseline_rows()) {
    if (!row.serves(task)) continue;
    shown.push_back(row.name + (has_parameter(row) ? std::string("_") + row.parameter : ""));
  }
  known.insert(known.end(), shown.begin(), shown.end());
  throw Error(Exit::kUsage, where + "unknown baseline " + in_quotes(name) +
                                did_you_mean(name, known) + " (of this task: " + join(shown) + ")");
}

}  // namespace

std::string BaselineChoice::name() const {
  return row->name + (has_parameter(*row) ? "_" + short_real(value) : "");
}

std::optional<BaselineChoice> reference_baseline(TaskType task) {
  for (const BaselineRow& row : baseline_rows()) {
    if (row.reference && row.serves(task)) return BaselineChoice{.row = &row};
  }
  return std::nullopt;
}

std::vector<BaselineChoice> choose_baselines(TaskType task, std::span<const std::string> names,
                                             const std::string& where) {
  std::vector<BaselineChoice> chosen;
  for (const std::string& name : names) {
    if (name == "default" || name == "all") {
      add_set(chosen, task, name == "all");
    } else if (const auto choice = find(task, name)) {
      add(chosen, *choice);
    } else {
      unknown(task, name, where);
    }
  }
  if (const auto reference = reference_baseline(task)) add(chosen, *reference);
  return chosen;
}

}  // namespace headroom
