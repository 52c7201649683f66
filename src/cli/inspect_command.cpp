#include <filesystem>

#include "analysis/inspect.h"
#include "cli/commands.h"
#include "cli/inspect_report.h"
#include "cli/output.h"
#include "cli/run_arguments.h"
#include "cli/run_checkpoint.h"
#include "config/write.h"
#include "train/evaluate.h"
#include "train/signals.h"

namespace headroom {

Exit inspect_command(Arguments args) {
  std::string run, checkpoint = "last";
  std::optional<std::string> dump;
  std::optional<std::uint64_t> items, threads;
  bool json = false;
  CommandLine line(
      "inspect",
      "Looks into the heads of a checkpoint: singular values, ranks and angle to the identity of "
      "W_Q^T W_K and W_O W_V, what each head attends to on held-out items, and the loss without "
      "it.",
      "headroom inspect runs/quickstart/rank-16-seed-0\n"
      "headroom inspect runs/my-run --checkpoint best --json\n"
      "headroom inspect runs/my-run --dump maps.safetensors");
  line.argument("RUN_DIR", run, "A run directory.");
  line.text("--checkpoint", checkpoint, "last|best|PATH", "Which checkpoint; the default is last.");
  line.text(
      "--dump", dump, "FILE",
      "Also write the attention maps of the first held-out items, with these, as safetensors: "
      "LAYER.weights (items, heads, queries, keys) before mix_weights, .mixed_weights after.");
  line.whole("--items", items, {2, 1000000}, "N",
             "Held-out items to look at; the default is as many as take a few seconds.");
  threads_flag(line, threads);
  line.flag("--json", json, "Print one JSON object instead of tables.");
  if (!line.parse(args)) return Exit::kDone;

  const RunConfig config = read_run("inspect", run);
  choose_threads(threads);
  use_precision(config.train.precision);
  install_signal_handlers();
  const std::unique_ptr<Task> task = make_task(config.task);
  const ParamTable table = parameter_table(config.model, model_io(*task));
  std::vector<float> params(table.size());
  load_params(open_checkpoint(run, checkpoint, config), table, std::span(params));

  InspectPlan plan = inspect_plan(*task, config.model);
  if (items) plan.items = plan.ablation_items = *items;
  AttentionDump maps;
  const std::optional<Inspection> inspection = inspect(
      *task, config.model, params, config.eval.seed, plan, dump ? &maps : nullptr, stop_requested);
  if (!inspection) return stopped_exit();
  if (dump) {
    safetensors::write(*dump, maps.tensors,
                       {{"format", "headroom-attention"}, {"config", config_text(config)}});
  }
  print(json ? inspect_json(*inspection) : inspect_text(*inspection));
  return Exit::kDone;
}

}  // namespace headroom
