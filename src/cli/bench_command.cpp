#include "cli/commands.h"
#include "cli/output.h"
#include "cli/run_arguments.h"
#include "cli/table.h"
#include "core/json.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "model/budget.h"
#include "tasks/task.h"
#include "train/bench.h"
#include "train/evaluate.h"

namespace headroom {
namespace {

struct BenchReport {
  BenchResult result;
  double step_flops = 0;
  std::string threads;

  double gflops() const { return step_flops / result.median_s * 1e-9; }
  double share() const { return gflops() / (result.roofline() * 1e-9); }
};

std::string bench_text(const BenchReport& r) {
  const BenchResult& b = r.result;
  double mean = 0;
  for (const double phase : b.phases) mean += phase;
  std::vector<std::vector<std::string>> rows{{"phase", "ms a step", "share"}};
  for (std::size_t i = 0; i < b.phases.size(); ++i)
    rows.push_back(
        {kPhaseNames[i], fixed(b.phases[i] * 1e3, 3), fixed(100 * b.phases[i] / mean, 1) + " %"});
  std::string out = text_table(rows) + "\n";
  rows = {
      {"step", fixed(b.median_s * 1e3, 3) + " ms, median of " + std::to_string(b.steps) + " (" +
                   fixed(b.min_s * 1e3, 3) + " to " + fixed(b.max_s * 1e3, 3) + "), " + r.threads},
      {"tokens a second", short_number(b.tokens / b.median_s)},
      {"speed", fixed(r.gflops(), 1) + " GFLOP/s, " + short_number(r.step_flops) + " FLOPs a step"},
      {"roofline", fixed(b.roofline() * 1e-9, 1) + " GFLOP/s: the step's " +
                       short_number(b.matmul_flops) + " FLOPs of matrix products, alone " +
                       fixed(b.matmul_median_s * 1e3, 3) + " ms"},
      {"share reached", fixed(100 * r.share(), 1) + " %"},
      {"memory", bytes_text(b.memory_bytes) + " planned, " + bytes_text(b.peak_rss_bytes) +
                     " at most by the process"},
      {"allocations a step", b.allocations ? fixed(*b.allocations, 1) : "not counted here"},
      {"primitives a step", fixed(b.primitives, 1)}};
  for (const auto& row : rows) out += row[0] + std::string(20 - row[0].size(), ' ') + row[1] + "\n";
  return out;
}

std::string bench_json(const BenchReport& r, const RunConfig& config) {
  const BenchResult& b = r.result;
  json::Value report, step, phases;
  json::add(step, "median", json::number(b.median_s * 1e3));
  json::add(step, "min", json::number(b.min_s * 1e3));
  json::add(step, "max", json::number(b.max_s * 1e3));
  for (std::size_t i = 0; i < b.phases.size(); ++i)
    json::add(phases, kPhaseNames[i], json::number(b.phases[i] * 1e3));
  json::add(report, "step_ms", step);
  json::add(report, "phases_ms", phases);
  json::add(report, "steps", json::number(b.steps));
  json::add(report, "tokens_per_s", json::number(b.tokens / b.median_s));
  json::add(report, "gflops", json::number(r.gflops()));
  json::add(report, "roofline_gflops", json::number(b.roofline() * 1e-9));
  json::add(report, "roofline_share", json::number(r.share()));
  json::add(report, "step_flops", json::number(r.step_flops));
  json::add(report, "matmul_flops", json::number(b.matmul_flops));
  json::add(report, "matmul_ms", json::number(b.matmul_median_s * 1e3));
  json::add(report, "peak_rss_mb", json::number(b.peak_rss_bytes * 1e-6));
  json::add(report, "memory_mb", json::number(b.memory_bytes * 1e-6));
  json::add(report, "threads", json::number(static_cast<std::uint64_t>(threads())));
  json::add(report, "precision", json::text(precision_text(config.train.precision)));
  json::add(report, "allocations_per_step",
            b.allocations ? json::number(*b.allocations) : json::Value());
  json::add(report, "primitives_per_step", json::number(b.primitives));
  return json::write(report) + "\n";
}

}  // namespace

Exit bench_command(Arguments args) {
  ConfigArguments arguments;
  std::uint64_t steps = 20;
  bool json = false;
  CommandLine line(
      "bench",
      "Times real training steps of a config at the end of its curriculum: where the time goes, "
      "and "
      "how near the step is to the roofline, the speed of its own matrix products run back to back "
      "in turn with the steps. FLOPs count forward and backward, by the formulas of `check`.",
      "headroom bench configs/quickstart/rank-4.json\n"
      "headroom bench my.json --steps 100 --threads 1 --json");
  arguments.declare(line);
  line.whole("--steps", steps, {1, 1000000}, "N",
             "How many steps to time, after 4 to warm up; the default is 20.");
  line.flag("--json", json, "Print one JSON object instead of text.");
  if (!line.parse(args)) return Exit::kDone;

  const RunConfig config = arguments.read();
  if (config.model.attention.type == AttentionType::kHard)
    throw Error(Exit::kUsage, "bench: model.attention.type = hard has no step to time");
  BenchReport r;
  r.threads = arguments.choose_threads();
  const std::unique_ptr<Task> task = make_task(config.task);
  r.result = bench_steps(config.task, config.model, config.train, steps);
  r.step_flops = model_budget(config.model, model_io(*task)).step_flops_per_token * r.result.tokens;
  print(json ? bench_json(r, config) : bench_text(r));
  return Exit::kDone;
}

}  // namespace headroom
