#include "cli/eval_report.h"

#include <algorithm>
#include <cmath>

#include "cli/table.h"
#include "core/json.h"
#include "theory/bounds.h"

namespace headroom {
namespace {

json::Value interval_value(const Mean& mean) {
  if (!mean.interval) return {};
  return json::Value(
      json::Array{json::number(mean.interval->low), json::number(mean.interval->high)});
}

json::Value score_value(const Task& task, const Score& score) {
  json::Value value;
  json::add(value, "loss", json::number(score.loss.mean));
  json::add(value, "loss_sem", json::number(score.loss.sem));
  json::add(value, "loss_interval", interval_value(score.loss));
  json::Value means{json::Object{}}, sems{json::Object{}}, intervals{json::Object{}};
  const std::vector<std::string> names = task.metric_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    json::add(means, names[i], json::number(score.metrics[i].mean));
    json::add(sems, names[i], json::number(score.metrics[i].sem));
    json::add(intervals, names[i], interval_value(score.metrics[i]));
  }
  json::add(value, "metrics", means);
  json::add(value, "metrics_sem", sems);
  json::add(value, "metrics_interval", intervals);
  return value;
}

json::Value positions_value(const Score& score) {
  json::Array rows;
  for (std::size_t p = 0; p < score.positions.size(); ++p) {
    json::Value row;
    json::add(row, "position", json::number(std::uint64_t{score.first_position + p}));
    json::add(row, "error", json::number(score.positions[p].mean));
    json::add(row, "error_sem", json::number(score.positions[p].sem));
    json::add(row, "error_interval", interval_value(score.positions[p]));
    rows.push_back(row);
  }
  return json::Value(rows);
}

bool flagged(const EvalReport& report) {
  return report.reference && !report.constructed &&
         not_trained(report.model.loss, *report.reference);
}

// Four digits behind the point, as far as that is legible.
std::string figure(double value) {
  return std::abs(value) < 1e6 ? fixed(value, 4) : scientific(value, 3);
}

std::string interval_text(const Mean& mean) {
  if (!mean.interval) return "";
  return figure(mean.interval->low) + " .. " + figure(mean.interval->high);
}

// 0.0312 with a standard error of 0.0011 as "0.0312(11)".
std::string with_error(const Mean& mean) {
  if (std::abs(mean.mean) >= 1e6) return figure(mean.mean) + "+-" + figure(mean.sem);
  const std::string error = std::isfinite(mean.sem) ? fixed(mean.sem * 1e4, 0) : "nan";
  return fixed(mean.mean, 4) + "(" + error + ")";
}

std::string losses(const EvalReport& report) {
  std::vector<std::vector<std::string>> rows{{"", "loss", "+-", "90 % interval"}};
  for (const std::string& name : report.task.metric_names())
    rows[0].insert(rows[0].end(), {name, "+-"});
  const auto add = [&](const std::string& name, const Score& score) {
    rows.push_back(
        {name, figure(score.loss.mean), figure(score.loss.sem), interval_text(score.loss)});
    for (const Mean& m : score.metrics)
      rows.back().insert(rows.back().end(), {figure(m.mean), figure(m.sem)});
  };
  add("model", report.model);
  if (report.expected_loss) rows.push_back({"formula", figure(*report.expected_loss)});
  if (report.bound) rows.push_back({"bound", figure(*report.bound)});
  for (const BaselineScore& b : report.baselines) add(b.name, b.score);
  std::string out = text_table(rows);
  if (report.bound)
    for (const BoundRow& row : bound_rows())
      out += std::string(row.name) + ": " + row.statement + " (" + row.source + ")\n";
  return out;
}

// The model beside baselines first .. last - 1.
std::string position_table(const EvalReport& report, std::size_t first, std::size_t last) {
  std::vector<std::vector<std::string>> rows{{"examples", "model"}};
  const auto columns = std::span(report.baselines).subspan(first, last - first);
  for (const BaselineScore& b : columns) rows[0].push_back(b.name);
  for (std::size_t p = 0; p < report.model.positions.size(); ++p) {
    rows.push_back(
        {std::to_string(report.model.first_position + p), with_error(report.model.positions[p])});
    for (const BaselineScore& b : columns) rows.back().push_back(with_error(b.score.positions[p]));
  }
  return text_table(rows);
}

// As many baselines side by side as fit a page.
std::string position_tables(const EvalReport& report) {
  constexpr std::size_t kMostColumns = 6;
  const std::size_t n = report.baselines.size(), tables = (n + kMostColumns - 1) / kMostColumns;
  std::string out =
      "\nerror by the number of examples seen, divided by that of predicting 0; in brackets its "
      "standard error in units of the last digit\n";
  for (std::size_t t = 0; t < std::max<std::size_t>(tables, 1); ++t) {
    const std::size_t first = t * n / std::max<std::size_t>(tables, 1);
    const std::size_t last = (t + 1) * n / std::max<std::size_t>(tables, 1);
    out += (t > 0 ? "\n" : "") + position_table(report, first, last);
  }
  return out;
}

}  // namespace

std::string eval_as_json(const EvalReport& report) {
  json::Value root = score_value(report.task, report.model);
  if (report.expected_loss) json::add(root, "expected_loss", json::number(*report.expected_loss));
  if (report.bound) json::add(root, "bound", json::number(*report.bound));
  if (report.reference) {
    json::add(root, "reference", json::text(report.reference->name));
    if (!report.constructed) json::add(root, "not_trained", json::Value(flagged(report)));
  }
  json::Value lines = json::Value(json::Object{});
  for (const BaselineScore& b : report.baselines) {
    json::Value line = score_value(report.task, b.score);
    json::add(line, "positions", positions_value(b.score));
    json::add(lines, b.name, line);
  }
  json::add(root, "baselines", lines);
  json::add(root, "positions", positions_value(report.model));
  json::add(root, "shifts", json::Value(json::Object{}));
  return json::write(root) + "\n";
}

std::string eval_as_text(const EvalReport& report) {
  std::string out = losses(report);
  if (flagged(report)) {
    out += "\nnot trained: the loss is not below that of " + report.reference->name +
           " by more than noise\n";
  }
  if (!report.model.positions.empty()) out += position_tables(report);
  return out;
}

}  // namespace headroom
