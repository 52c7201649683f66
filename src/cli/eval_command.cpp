#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli/commands.h"
#include "cli/eval_report.h"
#include "cli/output.h"
#include "cli/run_arguments.h"
#include "cli/run_checkpoint.h"
#include "core/numbers.h"
#include "core/spelling.h"
#include "theory/bounds.h"
#include "train/evaluate.h"
#include "train/evaluate_shifts.h"
#include "train/gradient.h"
#include "train/signals.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

// What `construct` left in run.json of a model set by hand. Nothing else here depends on that file,
// so that a run without a readable one is evaluated all the same.
std::optional<json::Value> construction_of(const fs::path& run) {
  const fs::path file = run / "run.json";
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return std::nullopt;
  try {
    const json::Value record = json::parse_file(file.string());
    const json::Value* const construction = record.find("construction");
    return construction == nullptr ? std::nullopt : std::optional(*construction);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<double> expected_loss(const std::optional<json::Value>& construction) {
  const json::Value* const loss = construction ? construction->find("expected_loss") : nullptr;
  if (loss == nullptr) return std::nullopt;
  const auto* const number = std::get_if<json::Number>(&loss->data);
  return number == nullptr ? std::nullopt : std::optional(read_real(number->text).value);
}

void require_finite(const Score& score, Model<float>& model, const fs::path& checkpoint) {
  if (std::isfinite(score.loss.mean)) return;
  const std::string bad = first_nonfinite<float>(model.table(), model.params().flat());
  throw Error(Exit::kDiverged, checkpoint.string() + ": has diverged, its held-out loss is " +
                                   real_text(score.loss.mean) +
                                   (bad.empty() ? "" : ", first in parameter " + bad));
}

}  // namespace

Exit eval_command(Arguments args) {
  std::string run, checkpoint = "last";
  std::optional<std::string> compared;
  std::vector<std::string> sets, shifts;
  std::optional<std::uint64_t> threads;
  bool json = false;
  CommandLine line(
      "eval",
      "Evaluates a checkpoint on the held-out stream, beside the baselines on the same items. "
      "+- is the standard error over items, the interval a bootstrap over items.",
      "headroom eval runs/quickstart/rank-16-seed-0\n"
      "headroom eval runs/my-run --checkpoint best --set eval.items=50000 --json\n"
      "headroom eval runs/linear-regression --shift scale_x=3 --shift seen_query");
  line.argument("RUN_DIR", run, "A run directory.");
  line.text("--checkpoint", checkpoint, "last|best|PATH", "Which checkpoint; the default is last.");
  line.texts("--set", sets, "KEY=VALUE",
             "Change a field of the `eval` section, such as eval.items; may be repeated.");
  line.text("--baselines", compared, "default|all|NAME,...",
            "Which predictors to compare with, as eval.baselines; `headroom describe baselines` "
            "lists them. `all` has some that take minutes.");
  line.texts("--shift", shifts, "NAME[=VALUE]|all",
             "Also evaluate under a distribution shift, in context; may be repeated. `headroom "
             "describe shifts` lists them.");
  threads_flag(line, threads);
  line.flag("--json", json, "Print one JSON object instead of tables.");
  if (!line.parse(args)) return Exit::kDone;
  for (const std::string& item : sets)
    if (!item.starts_with("eval."))
      throw Error(Exit::kUsage, "eval: --set " + item +
                                    ": only fields of `eval` can differ from the run's own config");

  RunConfig config = read_run("eval", run, sets);
  if (compared) {
    const auto names = split(*compared, ',');
    config.eval.baselines.assign(names.begin(), names.end());
    choose_baselines(config.task.type, config.eval.baselines, "--baselines: ");
  }
  std::vector<ShiftChoice> chosen = choose_shifts(config.task, shifts);
  choose_threads(threads);
  use_precision(config.train.precision);
  install_signal_handlers();
  const std::unique_ptr<Task> task = make_task(config.task);
  const std::size_t items = config.eval.items;
  const std::size_t batch = std::min<std::size_t>(
      items, config.eval.batch.value_or(config.train.batch / config.train.accumulate));
  const ModelConfig resolved = resolve(config.model, model_io(*task));
  const std::vector<PlannedShift> shifted =
      plan_shifts(config.task, resolved, std::move(chosen), config.eval.seed);
  // Room for longer prompts must not make a longer table of positions.
  ModelConfig planned = config.model;
  planned.positions.length = resolved.positions.length;
  Model<float> model(planned, widened(model_io(*task), shifted), batch, ModelUse::kAnswering);
  const safetensors::Archive archive = open_checkpoint(run, checkpoint, config);
  load_params(archive, model.table(), model.params().flat());

  const std::optional<ModelScores> scores =
      evaluate_model(*task, shifted, model, config.eval.seed, items, batch);
  if (!scores) return stopped_exit();
  require_finite(scores->plain, model, archive.path());
  const auto fitted = fit_baselines(*task, config.eval.seed,
                                    {.names = config.eval.baselines, .stop = stop_requested});
  if (!fitted) return stopped_exit();
  const std::optional<std::vector<BaselineScore>> baselines =
      score_baselines(*fitted, *task, config.eval.seed, items, stop_requested, true);
  if (!baselines) return stopped_exit();
  const std::optional<std::vector<ShiftScore>> under_shifts =
      score_shifts(shifted, scores->shifted, *fitted, config.eval.seed, items);
  if (!under_shifts) return stopped_exit();
  const std::optional<json::Value> construction = construction_of(run);
  const EvalReport report{.task = *task,
                          .model = scores->plain,
                          .baselines = *baselines,
                          .reference = find_reference(config.task.type, *baselines),
                          .constructed = construction.has_value(),
                          .expected_loss = expected_loss(construction),
                          .bounded = bounded_layer(config.task, resolved),
                          .shifts = *under_shifts};
  print(json ? eval_as_json(report) : eval_as_text(report));
  return Exit::kDone;
}

}  // namespace headroom
