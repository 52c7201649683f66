#include "cli/eval_report.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "cli/table.h"
#include "core/json.h"

namespace headroom {
namespace {

json::Value interval_value(const Mean& mean) {
  if (!mean.interval) return {};
  return json::Value(
      json::Array{json::number(mean.interval->low), json::number(mean.interval->high)});
}

json::Value loss_value(const Score& score) {
  json::Value value;
  json::add(value, "loss", json::number(score.loss.mean));
  json::add(value, "loss_sem", json::number(score.loss.sem));
  json::add(value, "loss_interval", interval_value(score.loss));
  return value;
}

json::Value score_value(const Task& task, const Score& score) {
  json::Value value = loss_value(score);
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

// The number of examples that each position of an unshifted score has seen.
std::vector<std::size_t> examples_of(const Score& score) {
  std::vector<std::size_t> examples(score.positions.size());
  std::iota(examples.begin(), examples.end(), score.first_position);
  return examples;
}

json::Value positions_value(const Score& score, std::span<const std::size_t> examples) {
  json::Array rows;
  for (std::size_t p = 0; p < score.positions.size(); ++p) {
    json::Value row;
    json::add(row, "position", json::number(std::uint64_t{examples[p]}));
    json::add(row, "error", json::number(score.positions[p].mean));
    json::add(row, "error_sem", json::number(score.positions[p].sem));
    json::add(row, "error_interval", interval_value(score.positions[p]));
    rows.push_back(row);
  }
  return json::Value(rows);
}

double bound(const BoundedLayer& layer) {
  return pair_lower_bound(layer.dim, layer.rank, layer.heads);
}

// What the errors by position are shares of.
std::string unit_of_errors(const Task& task) {
  return task.config().type == TaskType::kLinearClassification ? "the share of wrong signs"
                                                               : "divided by that of predicting 0";
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

// 0.0312 with a standard error of 0.0011 as "0.0312(11)", 41.65 +- 4.37 as "41.6(44)", 3.41e6 +-
// 2.4e5 as "3.41(24)e6": so many digits that two of the error stand there, at most four behind the
// point.
std::string with_error(const Mean& mean) {
  const double size = std::abs(mean.mean);
  if (size >= 1e4 && std::isfinite(size)) {
    const double exponent = std::floor(std::log10(size)), unit = std::pow(10, exponent);
    return with_error({.mean = mean.mean / unit, .sem = mean.sem / unit}) + "e" +
           fixed(exponent, 0);
  }
  const bool known = std::isfinite(mean.sem);
  const double digits =
      known && mean.sem > 0 ? std::clamp(1 - std::floor(std::log10(mean.sem)), 0.0, 4.0) : 4;
  return fixed(mean.mean, static_cast<int>(digits)) + "(" +
         (known ? fixed(mean.sem * std::pow(10, digits), 0) : "nan") + ")";
}

std::string paragraph(const std::string& text) { return wrapped(words_of(text), 0, 2) + "\n"; }

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
  if (report.bounded) rows.push_back({"bound", figure(bound(*report.bounded))});
  for (const BaselineScore& b : report.baselines) add(b.name, b.score);
  std::string out = text_table(rows);
  if (report.bounded)
    for (const BoundRow& row : bound_rows())
      if (row.says(*report.bounded))
        out += "\n" +
               paragraph(std::string(row.name) + ": " + row.statement + " (" + row.source + ")");
  return out;
}

// What stands at the left of a table, and columns that follow; cells by row, the head first.
struct WideTable {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::vector<std::string>> columns;
};

// A long head in several lines, broken behind underscores: "gradient_", "descent_5".
std::vector<std::string> head_lines(const std::string& head) {
  constexpr std::size_t kLong = 11;
  std::vector<std::string> lines(1);
  for (std::size_t from = 0; from < head.size();) {
    const std::size_t to = std::min(head.find('_', from), head.size() - 1) + 1;
    if (!lines.back().empty() && lines.back().size() + to - from > kLong) lines.emplace_back();
    lines.back() += head.substr(from, to - from);
    from = to;
  }
  return lines;
}

// The table with heads broken into as many rows as the longest needs, all ending in the last.
WideTable with_broken_heads(WideTable table) {
  std::size_t deepest = 1;
  for (const auto& column : table.columns)
    deepest = std::max(deepest, head_lines(column.front()).size());
  for (auto& column : table.columns) {
    std::vector<std::string> lines = head_lines(column.front());
    lines.insert(lines.begin(), deepest - lines.size(), "");
    column.erase(column.begin());
    column.insert(column.begin(), lines.begin(), lines.end());
  }
  table.rows.insert(table.rows.begin(), deepest - 1,
                    std::vector<std::string>(table.rows.front().size()));
  return table;
}

// As many columns side by side as fit a page, the left ones repeated.
std::string side_by_side(const WideTable& wide) {
  constexpr std::size_t kPage = 116, kGap = 2;
  const WideTable table = with_broken_heads(wide);
  const auto width_of = [](const std::vector<std::string>& cells) {
    std::size_t width = 0;
    for (const std::string& cell : cells) width = std::max(width, cell.size());
    return width + kGap;
  };
  std::size_t left = 0;
  for (std::size_t c = 0; c < table.rows.front().size(); ++c) {
    std::vector<std::string> cells;
    for (const auto& row : table.rows) cells.push_back(row[c]);
    left += width_of(cells);
  }
  std::string out;
  for (std::size_t first = 0; first < table.columns.size();) {
    auto rows = table.rows;
    std::size_t width = left;
    do {
      for (std::size_t r = 0; r < rows.size(); ++r) rows[r].push_back(table.columns[first][r]);
      width += width_of(table.columns[first++]);
    } while (first < table.columns.size() && width + width_of(table.columns[first]) <= kPage);
    out += (out.empty() ? "" : "\n") + text_table(rows);
  }
  return out;
}

// The model's column and the baselines', empty but for their heads.
std::vector<std::vector<std::string>> predictor_columns(const EvalReport& report) {
  std::vector<std::vector<std::string>> columns{{"model"}};
  for (const BaselineScore& b : report.baselines) columns.push_back({b.name});
  return columns;
}

// A cell for the model and each baseline: their errors at position p.
void add_errors(WideTable& table, const Score& model, std::span<const BaselineScore> baselines,
                std::size_t p) {
  table.columns[0].push_back(with_error(model.positions[p]));
  for (std::size_t b = 0; b < baselines.size(); ++b)
    table.columns[1 + b].push_back(with_error(baselines[b].score.positions[p]));
}

std::string position_tables(const EvalReport& report) {
  WideTable table{.rows = {{"examples"}}, .columns = predictor_columns(report)};
  for (std::size_t p = 0; p < report.model.positions.size(); ++p) {
    table.rows.push_back({std::to_string(report.model.first_position + p)});
    add_errors(table, report.model, report.baselines, p);
  }
  return "\n" +
         paragraph("error by the number of examples seen, " + unit_of_errors(report.task) +
                   "; in brackets its standard error in units of the last digit") +
         side_by_side(table);
}

// Rows at about a quarter, half and all of the most examples, as Garg et al. report 10, 20 and 40.
void add_shift_rows(WideTable& table, const std::string& name,
                    std::span<const std::size_t> examples, const Score& model,
                    std::span<const BaselineScore> baselines) {
  std::vector<std::size_t> shown;
  for (const double share : {.25, .5, 1.0}) {
    const double wanted = share * static_cast<double>(examples.back());
    const auto nearest = std::ranges::min_element(
        examples, {}, [&](std::size_t k) { return std::abs(static_cast<double>(k) - wanted); });
    const auto p = static_cast<std::size_t>(nearest - examples.begin());
    if (shown.empty() || shown.back() != p) shown.push_back(p);
  }
  for (const std::size_t p : shown) {
    table.rows.push_back({name, std::to_string(examples[p])});
    add_errors(table, model, baselines, p);
  }
}

std::string shift_tables(const EvalReport& report) {
  WideTable table{.rows = {{"shift", "examples"}}, .columns = predictor_columns(report)};
  add_shift_rows(table, "none", examples_of(report.model), report.model, report.baselines);
  std::string left_out;
  for (const ShiftScore& s : report.shifts) {
    if (s.choice.left_out.empty()) {
      add_shift_rows(table, s.choice.name(), s.examples, s.model, s.baselines);
    } else {
      left_out += s.choice.name() + ": left out, " + s.choice.left_out + "\n";
    }
  }
  return "\n" +
         paragraph("error under shifts (`headroom describe shifts`), " +
                   unit_of_errors(report.task) + " on the shifted prompts") +
         side_by_side(table) + left_out;
}

json::Value shift_value(const ShiftScore& shift) {
  json::Value value{json::Object{}};
  if (!shift.choice.left_out.empty()) {
    json::add(value, "left_out", json::text(shift.choice.left_out));
    return value;
  }
  const auto errors = [&](const Score& score) {
    json::Value line = loss_value(score);
    json::add(line, "positions", positions_value(score, shift.examples));
    return line;
  };
  value = errors(shift.model);
  json::Value lines{json::Object{}};
  for (const BaselineScore& b : shift.baselines) json::add(lines, b.name, errors(b.score));
  json::add(value, "baselines", lines);
  return value;
}

}  // namespace

std::string eval_as_json(const EvalReport& report) {
  json::Value root = score_value(report.task, report.model);
  if (report.expected_loss) json::add(root, "expected_loss", json::number(*report.expected_loss));
  if (report.bounded) json::add(root, "bound", json::number(bound(*report.bounded)));
  if (report.reference) {
    json::add(root, "reference", json::text(report.reference->name));
    if (!report.constructed) json::add(root, "not_trained", json::Value(flagged(report)));
  }
  json::Value lines = json::Value(json::Object{});
  for (const BaselineScore& b : report.baselines) {
    json::Value line = score_value(report.task, b.score);
    json::add(line, "positions", positions_value(b.score, examples_of(b.score)));
    json::add(lines, b.name, line);
  }
  json::add(root, "baselines", lines);
  json::add(root, "positions", positions_value(report.model, examples_of(report.model)));
  json::Value shifts{json::Object{}};
  for (const ShiftScore& shift : report.shifts)
    json::add(shifts, shift.choice.name(), shift_value(shift));
  json::add(root, "shifts", shifts);
  return json::write(root) + "\n";
}

std::string eval_as_text(const EvalReport& report) {
  std::string out = losses(report);
  if (flagged(report)) {
    out += "\nnot trained: the loss is not below that of " + report.reference->name +
           " by more than noise\n";
  }
  if (!report.model.positions.empty()) out += position_tables(report);
  if (!report.shifts.empty()) out += shift_tables(report);
  return out;
}

}  // namespace headroom
