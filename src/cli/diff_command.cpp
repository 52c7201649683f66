#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string_view>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/table.h"
#include "config/compare.h"
#include "config/read.h"
#include "config/write.h"
#include "core/file.h"
#include "core/numbers.h"
#include "model/budget.h"
#include "train/evaluate.h"
#include "train/progress.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

// The last row of eval.csv.
struct HeldOut {
  std::uint64_t step = 0;
  double loss = 0, loss_sem = 0;
};

// One of the two things compared.
struct Side {
  std::string path;
  RunConfig config;
  json::Value given, resolved;
  Budget budget;
  double step_flops = 0;
  std::optional<json::Value> run;  // run.json, of a run directory
  std::optional<HeldOut> held_out;
};

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = text.find(at)) != std::string_view::npos;
       text.remove_prefix(end + 1))
    parts.push_back(text.substr(0, end));
  parts.push_back(text);
  return parts;
}

// Its last whole row; nothing where there is none, as in a run that does not evaluate.
std::optional<HeldOut> last_held_out(const fs::path& file) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
  if (!fs::exists(file)) return std::nullopt;
  const std::string text = read_file(file, kMostBytes);
  const std::vector<std::string_view> lines = split(text, '\n');
  if (lines.size() < 3) return std::nullopt;  // after the last newline comes an empty one
  const std::vector<std::string_view> head = split(lines.front(), ','),
                                      row = split(lines[lines.size() - 2], ',');
  HeldOut out;
  const auto read = [&](std::string_view name, auto& into) {
    const auto column = std::find(head.begin(), head.end(), name) - head.begin();
    if (static_cast<std::size_t>(column) >= std::min(head.size(), row.size())) return false;
    const std::string_view cell = row[static_cast<std::size_t>(column)];
    return std::from_chars(cell.data(), cell.data() + cell.size(), into).ec == std::errc{};
  };
  if (!read("step", out.step) || !read("loss", out.loss) || !read("loss_sem", out.loss_sem))
    return std::nullopt;
  return out;
}

Side read_side(const std::string& path) {
  Side side;
  side.path = path;
  const bool is_run = fs::is_directory(path);
  side.config = read_run_config(is_run ? (fs::path(path) / "config.json").string() : path);
  if (is_run) {
    side.run = json::parse_file((fs::path(path) / "run.json").string());
    side.held_out = last_held_out(fs::path(path) / "eval.csv");
  }
  const std::unique_ptr<Task> task = make_task(side.config.task);
  const TaskShape shape = task->shape();
  side.given = config_value(side.config);
  side.resolved = resolved_value(side.config);
  side.budget = model_budget(side.config.model, model_io(*task));
  side.step_flops = side.budget.step_flops_per_token *
                    static_cast<double>(shape.all_tokens() * side.config.train.batch);
  return side;
}

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
  for (const char* key : {"best", "elapsed_s", "threads", "commit", "host"}) copy(key);
  return value;
}

json::Value side_value(const Side& side) {
  json::Value value;
  json::add(value, "path", json::text(side.path));
  json::add(value, "kind", json::text(side.run ? "run" : "config"));
  json::add(value, "end", end_value(side));
  return value;
}

std::string json_report(const Side& a, const Side& b, const std::vector<ConfigRow>& config,
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

// The digits that a loss of this size needs.
std::string loss_text(double value, double loss) {
  return std::abs(loss) > 0 && std::abs(loss) < 1e-2 ? scientific(value, 2) : fixed(value, 4);
}

std::string plain_text(const json::Value* value) {
  if (value == nullptr) return "-";
  const auto* text = std::get_if<std::string>(&value->data);
  return text != nullptr ? *text : json::write(*value, 0);
}

std::string whole_text(const json::Value* value) {
  const auto* number = value == nullptr ? nullptr : std::get_if<json::Number>(&value->data);
  if (number == nullptr) return plain_text(value);
  const WholeRead read = read_whole(number->text);
  return read.status == WholeStatus::kOk ? grouped(read.value) : number->text;
}

double real_of(const json::Value* value) {
  const auto* number = value == nullptr ? nullptr : std::get_if<json::Number>(&value->data);
  return number == nullptr ? NAN : read_real(number->text).value;
}

constexpr std::array kEndings{"exit reason", "updates", "last held-out loss", "best", "elapsed"};

// One cell a row of the table of endings.
std::array<std::string, kEndings.size()> endings(const Side& side) {
  if (!side.run) return {"a config, not run", "-", "-", "-", "-"};
  const auto& last = side.held_out;
  const json::Value* best = side.run->find("best");
  const bool has_best = best != nullptr && best->object() != nullptr;
  const double value = has_best ? real_of(best->find("value")) : NAN;
  const double elapsed = real_of(side.run->find("elapsed_s"));
  return {plain_text(side.run->find("exit_reason")), whole_text(side.run->find("steps")),
          !last ? "-"
                : loss_text(last->loss, last->loss) + " +- " +
                      loss_text(last->loss_sem, last->loss) + " at step " + grouped(last->step),
          !has_best ? "-"
                    : plain_text(best->find("metric")) + " " + loss_text(value, value) +
                          " at step " + whole_text(best->find("step")),
          std::isfinite(elapsed) ? duration_text(elapsed) : "-"};
}

std::string endings_text(const Side& a, const Side& b) {
  const auto of_a = endings(a), of_b = endings(b);
  std::vector<std::vector<std::string>> rows{{"how they ended", "a", "b"}};
  for (std::size_t i = 0; i < kEndings.size(); ++i) rows.push_back({kEndings[i], of_a[i], of_b[i]});
  if (!a.run || !b.run) return text_table(rows);
  // Where they ran, if that differs.
  const auto add = [&](const char* title, const json::Value* in_a, const json::Value* in_b) {
    if (!equal(in_a, in_b)) rows.push_back({title, plain_text(in_a), plain_text(in_b)});
  };
  for (const char* key : {"commit", "threads"}) add(key, a.run->find(key), b.run->find(key));
  const auto host = [](const Side& side) {
    const json::Value* value = side.run->find("host");
    return value == nullptr ? nullptr : value->find("cpu");
  };
  add("processor", host(a), host(b));
  return text_table(rows);
}

std::string text_report(const Side& a, const Side& b, const std::vector<ConfigRow>& config,
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
  const Side a = read_side(path_a), b = read_side(path_b);
  const std::vector<ConfigRow> config = config_rows(a, b);
  const std::vector<BudgetRow> budget = budget_rows(a, b);
  print(json ? json_report(a, b, config, budget) : text_report(a, b, config, budget));
  return Exit::kDone;
}

}  // namespace headroom
