#include <algorithm>
#include <csignal>
#include <filesystem>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/run_arguments.h"
#include "cli/table.h"
#include "config/read.h"
#include "config/resume.h"
#include "core/numbers.h"
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

// What theory says of a constructed model, as `construct` left it in run.json. Nothing else here
// depends on that file, so that a run without a readable one is evaluated all the same.
std::optional<double> expected_loss(const fs::path& run) {
  const fs::path file = run / "run.json";
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return std::nullopt;
  try {
    const json::Value record = json::parse_file(file.string());
    const json::Value* const construction = record.find("construction");
    const json::Value* const loss =
        construction == nullptr ? nullptr : construction->find("expected_loss");
    if (loss == nullptr) return std::nullopt;
    const auto* const number = std::get_if<json::Number>(&loss->data);
    return number == nullptr ? std::nullopt : std::optional(read_real(number->text).value);
  } catch (const Error&) {
    return std::nullopt;
  }
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
    json::add(row, "position", json::number(std::uint64_t{score.first_position + p}));
    json::add(row, "error", json::number(score.positions[p].mean));
    json::add(row, "error_sem", json::number(score.positions[p].sem));
    rows.push_back(row);
  }
  return json::Value(rows);
}

std::string json_report(const Task& task, const Score& model,
                        const std::vector<BaselineScore>& baselines,
                        const std::optional<double>& expected) {
  json::Value report = score_value(task, model);
  if (expected) json::add(report, "expected_loss", json::number(*expected));
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
                        const std::vector<BaselineScore>& baselines,
                        const std::optional<double>& expected) {
  std::vector<std::vector<std::string>> rows{{"", "loss", "+-"}};
  for (const std::string& name : task.metric_names()) rows[0].push_back(name);
  const auto add = [&](const std::string& name, const Score& score) {
    rows.push_back({name, fixed(score.loss.mean, 4), fixed(score.loss.sem, 4)});
    for (const Mean& m : score.metrics) rows.back().push_back(fixed(m.mean, 4));
  };
  add("model", model);
  if (expected) rows.push_back({"formula", fixed(*expected, 4)});
  for (const BaselineScore& b : baselines) add(b.name, b.score);
  std::string out = text_table(rows);
  if (model.positions.empty()) return out;

  std::vector<std::vector<std::string>> positions{{"examples", "model"}};
  for (const BaselineScore& b : baselines) positions[0].push_back(b.name);
  for (std::size_t p = 0; p < model.positions.size(); ++p) {
    positions.push_back(
        {std::to_string(model.first_position + p), fixed(model.positions[p].mean, 4)});
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
  if (const std::string* trained = archive.metadata("config"))
    require_same_model(read_run_config_text(*trained), config, archive.path().string());
  load_params(archive, model.table(), model.params().flat());

  const std::optional<Score> score = evaluator.run(model);
  const std::vector<BaselineScore> baselines =
      evaluate_baselines(*task, config.eval.seed, items, stop_requested);
  if (!score || baselines.empty()) {
    return stop_signal() == SIGINT ? Exit::kInterrupted : Exit::kStopped;
  }
  const std::optional<double> expected = expected_loss(run);
  print(json ? json_report(*task, *score, baselines, expected)
             : text_report(*task, *score, baselines, expected));
  return Exit::kDone;
}

}  // namespace headroom
