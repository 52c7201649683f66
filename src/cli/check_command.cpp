#include <algorithm>
#include <cmath>

#include "cli/budget_report.h"
#include "cli/commands.h"
#include "cli/control_report.h"
#include "cli/output.h"
#include "cli/run_arguments.h"
#include "cli/table.h"
#include "config/write.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/spelling.h"
#include "model/budget.h"
#include "model/gradient_check.h"
#include "train/evaluate.h"
#include "train/freeze.h"
#include "train/progress.h"
#include "train/timing.h"

namespace headroom {
namespace {

constexpr double kTolerance = 1e-6;

struct CheckReport {
  RunConfig config;
  ModelConfig resolved;
  ModelIo io;
  ParamTable table;
  Budget budget;
  StepTiming timing;
  std::string threads;
  std::vector<GradientCheck> gradients;
  ModelConfig twin;
  GradientCheckPlan plan;
  std::optional<ControlReport> control;

  std::vector<bool> frozen;  // by row of the table

  bool trains() const { return resolved.attention.type != AttentionType::kHard; }
  double worst() const {
    double w = 0;
    for (const GradientCheck& g : gradients)
      if (!(g.worst_error <= w)) w = g.worst_error;
    return w;
  }
  bool passed() const { return worst() <= kTolerance; }
  double total_s() const { return timing.median_s * static_cast<double>(config.train.steps); }
  double flops_per_step() const { return budget.step_flops_per_token * timing.tokens; }
};

std::string init_text(const InitRule& init) {
  switch (init.kind) {
    case InitRule::Kind::kConstant:
      return fixed(init.value, init.value == std::floor(init.value) ? 0 : 4);
    case InitRule::Kind::kUniform:
      return "U(+-" + fixed(init.value, 4) + ")";
    case InitRule::Kind::kIdentity:
      return "identity";
    case InitRule::Kind::kNormal:
      return "N(0, " + fixed(init.value, 4) + "^2)";
  }
  return "";
}

// What training costs here, and whether its gradients are right.
std::string training_text(const CheckReport& r) {
  std::string out;
  out += "FLOPs of a step       " + short_number(r.flops_per_step()) + " (forward and backward, " +
         grouped(static_cast<std::uint64_t>(r.timing.tokens)) + " tokens)\n";
  out += "memory                " + bytes_text(r.timing.memory_bytes) + "\n";
  out += "a step here           " + fixed(r.timing.median_s * 1e3, 3) + " ms (median of " +
         std::to_string(r.timing.steps) + ", " + r.threads + "), " +
         fixed(r.flops_per_step() / r.timing.median_s * 1e-9, 1) + " GFLOP/s\n";
  out += "all " + grouped(r.config.train.steps) + " steps       about " +
         duration_text(r.total_s()) + ", evaluations and checkpoints not counted\n\n";

  out += "gradients of a shrunk twin (" + std::to_string(r.twin.layers) +
         (r.twin.layers == 1 ? " layer" : " layers") + ", FFN " + std::to_string(r.twin.ffn.width) +
         ", batch " + std::to_string(r.plan.batch) + ", " + std::to_string(r.plan.tokens) +
         " tokens, the same heads) against the complex step in double, at most " +
         std::to_string(r.plan.entries_per_tensor) + " entries a tensor, " +
         std::to_string(r.plan.entries_per_forward) + " at a time\n";
  std::vector<std::vector<std::string>> rows{
      {"parameter", "entries", "largest", "worst relative error"}};
  for (const GradientCheck& g : r.gradients)
    rows.push_back({g.name, std::to_string(g.entries), scientific(g.largest, 1),
                    scientific(g.worst_error, 1)});
  out += text_table(rows) +
         (r.passed() ? "gradients agree: worst " : "GRADIENTS DISAGREE: worst ") +
         scientific(r.worst(), 1) + ", allowed " + scientific(kTolerance, 0) + "\n";
  return out;
}

std::string check_text(const CheckReport& r) {
  std::string out =
      "config, derived values filled in\n" + json::write(resolved_value(r.config)) + "\n\n";

  std::vector<std::vector<std::string>> rows{{"parameter", "shape", "size", "init", "decay"}};
  for (std::size_t i = 0; i < r.frozen.size(); ++i) {
    const ParamRow& row = r.table.rows()[i];
    rows.push_back({row.name, shape_text(row.shape), grouped(row.size), init_text(row.init),
                    r.frozen[i] ? "frozen" : (row.decay ? "yes" : "no")});
  }
  out += text_table(rows) + "\n";
  out += budget_text(r.budget) + "\n";
  out += r.trains() ? training_text(r)
                    : "hard weights have no gradient: this model is evaluated, not trained\n";
  if (r.control) out += "\n" + r.control->text();
  return out;
}

std::string check_json(const CheckReport& r) {
  Fields model_fields;
  ModelConfig resolved = r.resolved;
  resolved.declare(model_fields);
  json::Value report, timing;
  json::add(report, "config", config_value(r.config));
  json::add(report, "resolved_config", resolved_value(r.config));
  json::add(report, "resolved_model", json::Value(write_fields(model_fields)));
  json::Array parameters;
  for (std::size_t i = 0; i < r.frozen.size(); ++i) {
    const ParamRow& row = r.table.rows()[i];
    json::Value line;
    json::Array shape;
    for (std::size_t d : row.shape) shape.push_back(json::number(std::uint64_t{d}));
    json::add(line, "name", json::text(row.name));
    json::add(line, "shape", json::Value(shape));
    json::add(line, "size", json::number(std::uint64_t{row.size}));
    json::add(line, "decay", json::boolean(row.decay && !r.frozen[i]));
    json::add(line, "frozen", json::boolean(r.frozen[i]));
    parameters.push_back(line);
  }
  json::add(report, "parameters", json::Value(parameters));
  json::Value budget = budget_value(r.budget);
  json::add(budget, "step_flops", json::number(r.flops_per_step()));
  json::add(report, "budget", budget);
  json::add(timing, "step_ms", json::number(r.timing.median_s * 1e3));
  json::add(timing, "total_s", json::number(r.total_s()));
  json::add(timing, "memory_bytes",
            json::number(static_cast<std::uint64_t>(r.timing.memory_bytes)));
  json::add(timing, "threads", json::number(static_cast<std::uint64_t>(threads())));
  json::add(report, "projection", timing);
  json::Array gradients;
  for (const GradientCheck& g : r.gradients) {
    json::Value line;
    json::add(line, "name", json::text(g.name));
    json::add(line, "entries", json::number(std::uint64_t{g.entries}));
    json::add(line, "largest", json::number(g.largest));
    json::add(line, "worst_error", json::number(g.worst_error));
    gradients.push_back(line);
  }
  json::add(report, "gradients", json::Value(gradients));
  json::add(report, "passed", json::boolean(r.passed()));
  if (r.control) json::add(report, "control", r.control->value());
  return json::write(report) + "\n";
}

}  // namespace

Exit check_command(Arguments args) {
  ConfigArguments arguments;
  std::string control;
  bool json = false;
  CommandLine line("check",
                   "Looks at a config before it runs: what it resolves to, its parameters, budget, "
                   "FLOPs and memory, "
                   "how long it will take here, and whether its gradients are right.",
                   "headroom check configs/quickstart/rank-4.json\n"
                   "headroom check my.json --set model.attention.heads=8 --json\n"
                   "headroom check configs/quickstart/rank-4-talking.json --control ffn");
  arguments.declare(line);
  line.choice(
      "--control", control, {"heads", "ffn"},
      "Also find the honest control, and the --set arguments that make it: plain multi-head "
      "attention with as many parameters, by its number of heads or its FFN width. What the heads "
      "mix or share is undone (mix_scores, mix_weights, score_heads, value_heads, kv_heads, full "
      "maps); "
      "key_size, value_size, copies and all the rest stay. Within 1 %, at least as many parameters "
      "where that can be; with no such config the exit code is 6. Its d H r and FLOPs may differ: "
      "both are "
      "printed. The arguments go behind the same CONFIG and --set.");
  line.flag("--json", json, "Print one JSON object instead of text.");
  if (!line.parse(args)) return Exit::kDone;

  CheckReport r;
  r.config = arguments.read();
  r.threads = arguments.choose_threads();
  const std::unique_ptr<Task> task = make_task(r.config.task);
  r.io = model_io(*task);
  r.resolved = resolve(r.config.model, r.io);
  if (!control.empty()) r.control.emplace(r.config, r.io, control);
  r.table = parameter_table(r.resolved, r.io);
  r.budget = model_budget(r.config.model, r.io);
  r.frozen = frozen_rows(r.table, r.config.train.freeze);
  if (r.trains()) r.timing = time_steps(r.config.task, r.config.model, r.config.train, 0.4);
  ModelIo io = r.io;
  r.twin = shrunk_twin(r.config.model, io);
  r.plan.tokens = io.tokens;
  r.plan.read_at = task->shape().read_at();
  r.plan.read_at.first = std::min(r.plan.read_at.first, r.plan.tokens - 1);
  r.plan.loss = task->shape().loss;
  r.plan.seed = r.config.init_seed();
  r.plan.entries_per_forward = 10;
  if (r.trains()) r.gradients = check_gradients(r.twin, io, r.plan);
  print(json ? check_json(r) : check_text(r));
  for (const std::string& warning : warnings(r.config)) print_error("warning: " + warning);
  if (!r.passed())
    throw Error(Exit::kCheckFailed, "check: the gradients do not agree with the complex step");
  if (r.control && r.control->search.match() == nullptr)
    throw Error(Exit::kCheckFailed, "check --control: " + r.control->failure());
  return Exit::kDone;
}

}  // namespace headroom
