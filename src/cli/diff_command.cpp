#include <algorithm>
#include <cmath>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/run_side.h"
#include "cli/table.h"
#include "config/compare.h"

namespace headroom {
namespace {

using Side = RunSide;

struct ConfigRow {
  std::string key;
  const json::Value *a, *b;  // nullptr: the field does not go with that side's types
  bool a_derived, b_derived;
};

// A value is derived where the config itself says null, or a budget.
bool derived(const Side& side, const std::string& key, const json::Value* value) {
  return value != nullptr && !equal(value, value_at(side.given, key));
}

std::vector<ConfigRow> config_rows(const Side& a, const Side& b) {
  std::vector<ConfigRow> rows;
  for (const Difference& d : differences(a.resolved, b.resolved))
    rows.push_back({d.key, d.a, d.b, derived(a, d.key, d.a), derived(b, d.key, d.b)});
  return rows;
}

struct Quantity {
  const char *key, *title;
};
constexpr Quantity kBudget{"d_h_r", "d H r of a layer"},
    kModelBudget{"model_d_h_r", "d H r of the model"}, kParameters{"parameters", "parameters"},
    kFlops{"forward_flops_per_token", "FLOPs a token"}, kStepFlops{"step_flops", "FLOPs a step"};

struct BudgetRow {
  Quantity quantity;
  std::string part;  // "ffn"; empty: the whole model
  double a, b;
};

// What of the budgets differs, in order.
std::vector<BudgetRow> budget_rows(const Side& a, const Side& b) {
  std::vector<BudgetRow> rows;
  const auto add = [&](const Quantity& quantity, const std::string& part, const auto& of) {
    const double of_a = static_cast<double>(of(a)), of_b = static_cast<double>(of(b));
    if (of_a != of_b) rows.push_back({quantity, part, of_a, of_b});
  };
  add(kBudget, "", [](const Side& s) { return s.budget.d_h_r; });
  add(kModelBudget, "", [](const Side& s) { return s.budget.model_d_h_r; });
  add(kParameters, "", [](const Side& s) { return s.budget.parameters; });
  add(kFlops, "", [](const Side& s) { return s.budget.flops_per_token; });
  add(kStepFlops, "", [](const Side& s) { return s.step_flops; });
  std::vector<std::string> names;
  for (const Side* side : {&a, &b})
    for (const BudgetPart& p : side->budget.model)
      if (std::find(names.begin(), names.end(), p.name) == names.end()) names.push_back(p.name);
  const auto part = [](const Side& side, const std::string& name) {
    for (const BudgetPart& p : side.budget.model)
      if (p.name == name) return p;
    return BudgetPart{};
  };
  for (const std::string& name : names)
    add(kParameters, name, [&](const Side& s) { return part(s, name).parameters; });
  for (const std::string& name : names)
    add(kFlops, name, [&](const Side& s) { return part(s, name).forward_flops_per_token; });
  return rows;
}

// Whether the held-out losses are means of the same thing.
bool same_task(const std::vector<ConfigRow>& rows) {
  return std::none_of(rows.begin(), rows.end(),
                      [](const ConfigRow& row) { return row.key.starts_with("task."); });
}

json::Value end_value(const Side& side) {
  if (!side.run) return {};
  json::Value value;
  const auto copy = [&](const char* key) {
    const json::Value* found = side.run->find(key);
    json::add(value, key, found == nullptr ? json::Value() : *found);
  };
  for (const char* key : {"exit_reason", "exit_code", "steps"}) copy(key);
  const auto& last = side.held_out;
  json::add(value, "loss", last ? json::number(last->loss) : json::Value());
  json::add(value, "loss_sem", last ? json::number(last->loss_sem) : json::Value());
  json::add(value, "loss_step", last ? json::number(last->step) : json::Value());
  for (const char* key : {"best", "elapsed_s", "threads", "precision", "commit", "host"}) copy(key);
  return value;
}

json::Value side_value(const Side& side) {
  json::Value value;
  json::add(value, "path", json::text(side.path));
  json::add(value, "kind", json::text(side.run ? "run" : "config"));
  json::add(value, "end", end_value(side));
  return value;
}

std::string diff_json(const Side& a, const Side& b, const std::vector<ConfigRow>& config,
                      const std::vector<BudgetRow>& budget) {
  json::Value report;
  json::add(report, "a", side_value(a));
  json::add(report, "b", side_value(b));
  json::add(report, "same", json::boolean(config.empty() && budget.empty()));
  json::add(report, "same_task", json::boolean(same_task(config)));
  json::Array rows;
  for (const ConfigRow& row : config) {
    json::Value line;
    json::add(line, "key", json::text(row.key));
    if (row.a != nullptr) json::add(line, "a", *row.a);
    if (row.b != nullptr) json::add(line, "b", *row.b);
    json::add(line, "a_derived", json::boolean(row.a_derived));
    json::add(line, "b_derived", json::boolean(row.b_derived));
    rows.push_back(line);
  }
  json::add(report, "config", json::Value(rows));
  rows.clear();
  for (const BudgetRow& row : budget) {
    json::Value line;
    json::add(line, "quantity", json::text(row.quantity.key));
    json::add(line, "part", row.part.empty() ? json::Value() : json::text(row.part));
    json::add(line, "a", json::number(row.a));
    json::add(line, "b", json::number(row.b));
    rows.push_back(line);
  }
  json::add(report, "budget", json::Value(rows));
  return json::write(report) + "\n";
}

std::string endings_text(const Side& a, const Side& b) {
  const auto of_a = endings(a), of_b = endings(b);
  std::vector<std::vector<std::string>> rows{{"how they ended", "a", "b"}};
  for (std::size_t i = 0; i < of_a.size(); ++i)
    rows.push_back({of_a[i].first, of_a[i].second, of_b[i].second});
  if (!a.run || !b.run) return text_table(rows);
  // Where they ran, if that differs.
  const auto add = [&](const char* title, const json::Value* in_a, const json::Value* in_b) {
    if (!equal(in_a, in_b)) rows.push_back({title, plain_text(in_a), plain_text(in_b)});
  };
  for (const char* key : {"commit", "threads", "precision"})
    add(key, a.run->find(key), b.run->find(key));
  const auto host = [](const Side& side) {
    const json::Value* value = side.run->find("host");
    return value == nullptr ? nullptr : value->find("cpu");
  };
  add("processor", host(a), host(b));
  return text_table(rows);
}

std::string diff_text(const Side& a, const Side& b, const std::vector<ConfigRow>& config,
                      const std::vector<BudgetRow>& budget) {
  std::string out = "a  " + a.path + "\nb  " + b.path + "\n";
  if (config.empty() && budget.empty()) out += "\nconfigs and budgets are the same\n";
  if (!config.empty()) {
    std::vector<std::vector<std::string>> rows{{"config", "a", "b"}};
    const auto cell = [](const json::Value* value, bool is_derived) {
      return plain_text(value) + (is_derived ? " (derived)" : "");
    };
    for (const ConfigRow& row : config)
      rows.push_back({row.key, cell(row.a, row.a_derived), cell(row.b, row.b_derived)});
    out += "\n" + text_table(rows);
    if (budget.empty()) out += "\nbudgets are the same\n";
  }
  if (!budget.empty()) {
    std::vector<std::vector<std::string>> rows{{"budget", "a", "b", "b / a"}};
    const auto cell = [](double n) {
      return n < 1e9 && n == std::floor(n) ? grouped(static_cast<std::uint64_t>(n))
                                           : short_number(n);
    };
    for (const BudgetRow& row : budget)
      rows.push_back({row.quantity.title + (row.part.empty() ? "" : ", " + row.part), cell(row.a),
                      cell(row.b), row.a > 0 ? fixed(row.b / row.a, 3) : "-"});
    out += "\n" + text_table(rows);
  }
  if (!a.run && !b.run) return out;
  out += "\n" + endings_text(a, b);
  if (!same_task(config)) out += "the tasks differ: their losses are means of different things\n";
  return out;
}

}  // namespace

Exit diff_command(Arguments args) {
  std::string path_a, path_b;
  bool json = false;
  CommandLine line(
      "diff",
      "Says what differs between two runs: their configs with derived values filled in, what they "
      "cost, and how they ended. Each may be a run directory or a config. A field that does not go "
      "with one side's types shows as -. The exit code is 0 whether or not they differ.",
      "headroom diff runs/rank-4-seed-0 runs/rank-4-seed-1\n"
      "headroom diff configs/quickstart/rank-4.json configs/quickstart/rank-4-talking.json\n"
      "headroom diff runs/my-run my.json --json");
  line.argument("RUN_A", path_a, "A run directory, or a config.");
  line.argument("RUN_B", path_b, "Another.");
  line.flag("--json", json, "Print one JSON object instead of tables.");
  if (!line.parse(args)) return Exit::kDone;
  const Side a = read_run_side(path_a), b = read_run_side(path_b);
  const std::vector<ConfigRow> config = config_rows(a, b);
  const std::vector<BudgetRow> budget = budget_rows(a, b);
  print(json ? diff_json(a, b, config, budget) : diff_text(a, b, config, budget));
  return Exit::kDone;
}

}  // namespace headroom
