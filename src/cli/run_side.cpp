#include "cli/run_side.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "cli/table.h"
#include "config/read.h"
#include "config/write.h"
#include "core/error.h"
#include "core/file.h"
#include "core/numbers.h"
#include "core/spelling.h"
#include "train/evaluate.h"
#include "train/progress.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

// Nothing where there is no row, as in a run that does not evaluate.
std::optional<HeldOut> last_held_out(const fs::path& file) {
  const CsvTable table = read_csv(file);
  for (const char* name : {"step", "loss", "loss_sem"})
    if (!table.columns.contains(name)) return std::nullopt;
  if (table.rows == 0) return std::nullopt;
  const double step = table.columns.at("step").back();
  if (!(step >= 0)) return std::nullopt;
  return HeldOut{static_cast<std::uint64_t>(step), table.columns.at("loss").back(),
                 table.columns.at("loss_sem").back()};
}

}  // namespace

const std::vector<double>& CsvTable::column(const std::string& name) const {
  const auto found = columns.find(name);
  if (found == columns.end()) throw Error(Exit::kFile, file + ": has no column " + name);
  return found->second;
}

CsvTable read_csv(const fs::path& file) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
  CsvTable table;
  table.file = file.string();
  if (!fs::exists(file)) return table;
  const std::string text = read_file(file, kMostBytes);
  std::vector<std::string_view> lines = split(text, '\n');
  lines.pop_back();  // empty, or cut short
  if (lines.empty()) return table;
  const std::vector<std::string_view> head = split(lines.front(), ',');
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string_view> row = split(lines[i], ',');
    if (row.size() != head.size()) {
      throw Error(Exit::kFile, file.string() + ":" + std::to_string(i + 1) + ": " +
                                   std::to_string(row.size()) + " fields, the head has " +
                                   std::to_string(head.size()));
    }
    for (std::size_t c = 0; c < head.size(); ++c) {
      double value = NAN;
      (void)std::from_chars(row[c].data(), row[c].data() + row[c].size(), value);
      table.columns[std::string(head[c])].push_back(value);
    }
    table.first.emplace_back(row.front());
    ++table.rows;
  }
  return table;
}

RunSide read_run_side(const std::string& path) {
  RunSide side;
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

std::vector<std::pair<std::string, std::string>> endings(const RunSide& side) {
  std::vector<std::pair<std::string, std::string>> rows{{"exit reason", "a config, not run"},
                                                        {"updates", "-"},
                                                        {"last held-out loss", "-"},
                                                        {"best", "-"},
                                                        {"elapsed", "-"}};
  if (!side.run) return rows;
  const json::Value* flag = side.run->find("not_trained");
  const bool* const flagged = flag == nullptr ? nullptr : std::get_if<bool>(&flag->data);
  rows[0].second = plain_text(side.run->find("exit_reason")) +
                   (flagged != nullptr && *flagged ? ", not trained" : "");
  rows[1].second = whole_text(side.run->find("steps"));
  if (const auto& last = side.held_out) {
    rows[2].second = loss_text(last->loss, last->loss) + " +- " +
                     loss_text(last->loss_sem, last->loss) + " at step " + grouped(last->step);
  }
  const json::Value* best = side.run->find("best");
  if (best != nullptr && best->object() != nullptr) {
    const double value = real_of(best->find("value"));
    rows[3].second = plain_text(best->find("metric")) + " " + loss_text(value, value) +
                     " at step " + whole_text(best->find("step"));
  }
  const double elapsed = real_of(side.run->find("elapsed_s"));
  if (std::isfinite(elapsed)) rows[4].second = duration_text(elapsed);
  return rows;
}

}  // namespace headroom
