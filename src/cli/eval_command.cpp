#include <algorithm>
#include <csignal>
#include <filesystem>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/run_arguments.h"
#include "cli/table.h"
#include "config/read.h"
#include "train/checkpoint.h"
#include "train/checkpoint_folder.h"
#include "train/evaluate.h"
#include "train/signals.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

fs::path checkpoint_path(const fs::path& run, const std::string& which) {
  if (which == "last") return run / "checkpoints" / kLastLink;
  if (which == "best") return run / "checkpoints" / kBestLink;
  return which;
}

json::Value score_value(const Task& task, const Score& score) {
  json::Value value, metrics;
  json::add(value, "loss", json::number(score.loss.mean));
  json::add(value, "loss_sem", json::number(score.loss.sem));
  metrics = json::Value(json::Object{});
  const std::vector<std::string> names = task.metric_names();
  for (std::size_t i = 0; i < names.size(); ++i)
    json::add(metrics, names[i], json::number(score.metrics[i].mean));
  json::add(value, "metrics", metrics);
  return value;
}

json::Value positions_value(const Score& score) {
  json::Array rows;
  for (std::size_t p = 0; p < score.positions.size(); ++p) {
    json::Value row;
    json::add(row, "position", json::number(std::uint64_t{p}));
    json::add(row, "error", json::number(score.positions[p].mean));
    json::add(row, "error_sem", json::number(score.positions[p].sem));
    rows.push_back(row);
  }
  return json::Value(rows);
}

std::string json_report(const Task& task, const Score& model,
                        const std::vector<BaselineScore>& baselines) {
  json::Value report = score_value(task, model);
  json::Value lines = json::Value(json::Object{});
  for (const BaselineScore& b : baselines) {
    json::Value line = score_value(task, b.score);
    json::add(line, "positions", positions_value(b.score));
    json::add(lines, b.name, line);
  }
  json::add(report, "baselines", lines);
  json::add(report, "positions", positions_value(model));
  json::add(report, "shifts", json::Value(json::Object{}));
  return json::write(report) + "\n";
}

std::string text_report(const Task& task, const Score& model,
                        const std::vector<BaselineScore>& baselines) {
  std::vector<std::vector<std::string>> rows{{"", "loss", "+-"}};
  for (const std::string& name : task.metric_names()) rows[0].push_back(name);
  const auto add = [&](const std::string& name, const Score& score) {
    rows.push_back({name, fixed(score.loss.mean, 4), fixed(score.loss.sem, 4)});
    for (const Mean& m : score.metrics) rows.back().push_back(fixed(m.mean, 4));
  };
  add("model", model);
  for (const BaselineScore& b : baselines) add(b.name, b.score);
  std::string out = text_table(rows);
  if (model.positions.empty()) return out;

  std::vector<std::vector<std::string>> positions{{"examples", "model"}};
  for (const BaselineScore& b : baselines) positions[0].push_back(b.name);
  for (std::size_t p = 0; p < model.positions.size(); ++p) {
    positions.push_back({std::to_string(p), fixed(model.positions[p].mean, 4)});
    for (const BaselineScore& b : baselines)
      positions.back().push_back(fixed(b.score.positions[p].mean, 4));
  }
  return out + "\nerror by the number of examples seen, divided by that of predicting 0\n" +
         text_table(positions);
}

}  // namespace

Exit eval_command(Arguments args) {
  std::string run, checkpoint = "last";
  std::vector<std::string> sets;
  std::optional<std::uint64_t> threads;
  bool json = false;
  CommandLine line(
      "eval",
      "Evaluates a checkpoint on the held-out stream, beside the baselines on the same items. "
      "+- is the standard error over items.",
      "headroom eval runs/quickstart/rank-16-seed-0\n"
      "headroom eval runs/my-run --checkpoint best --set eval.items=50000 --json");
  line.argument("RUN_DIR", run, "A run directory.");
  line.text("--checkpoint", checkpoint, "last|best|PATH", "Which checkpoint; the default is last.");
  line.texts("--set", sets, "KEY=VALUE",
             "Change a field of the `eval` section, such as eval.items; may be repeated.");
  threads_flag(line, threads);
  line.flag("--json", json, "Print one JSON object instead of tables.");
  if (!line.parse(args)) return Exit::kDone;
  for (const std::string& item : sets)
    if (!item.starts_with("eval."))
      throw Error(Exit::kUsage, "eval: --set " + item +
                                    ": only fields of `eval` can differ from the run's own config");
  if (!fs::is_directory(run)) throw Error(Exit::kFile, run + ": no such run directory");

  choose_threads(threads);
  install_signal_handlers();
  const RunConfig config = read_run_config((fs::path(run) / "config.json").string(), sets);
  const std::unique_ptr<Task> task = make_task(config.task);
  const std::size_t items = config.eval.items;
  Evaluator evaluator(*task, config.eval.seed, items,
                      config.eval.batch.value_or(config.train.batch / config.train.accumulate));
  Model<float> model(config.model, model_io(*task), evaluator.batch(), false);
  const safetensors::Archive archive(checkpoint_path(run, checkpoint));
  load_params(archive, model.table(), model.params().flat());

  const std::optional<Score> score = evaluator.run(model);
  if (!score) return stop_signal() == SIGINT ? Exit::kInterrupted : Exit::kStopped;
  const std::vector<BaselineScore> baselines = evaluate_baselines(*task, config.eval.seed, items);
  print(json ? json_report(*task, *score, baselines) : text_report(*task, *score, baselines));
  return Exit::kDone;
}

}  // namespace headroom
