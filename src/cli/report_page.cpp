#include "cli/report_page.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "cli/svg_chart.h"
#include "cli/table.h"
#include "cli/version.h"
#include "config/compare.h"
#include "core/error.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPoints = 300;  // of a curve
constexpr const char* kStyle = R"(
:root { color-scheme: light; }
body { font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif; margin: 2rem auto; max-width: 86rem; padding: 0 1rem; color: #1a1a1a; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; } th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }
th:first-child, td:first-child, td.text { text-align: left; } td.text { white-space: normal; max-width: 28rem; } thead th { border-bottom: 2px solid #999; }
tr.bad td { background: #fdecea; }
.charts { display: flex; flex-wrap: wrap; gap: 1rem 2rem; } figure { margin: 0; flex: 1 1 34rem; max-width: 42rem; }
figcaption { font-weight: 600; } figure > svg { width: 100%; height: auto; }
svg text { font-size: 11px; fill: #333; } svg .grid { stroke: #e4e4e4; } svg .frame { stroke: #333; fill: none; }
svg .line { fill: none; stroke-width: 1.7; stroke-linejoin: round; } svg .dot { stroke-width: 7; stroke-linecap: round; } svg .cross { fill: none; stroke-width: 2.5; stroke-dasharray: none; }
svg g:hover .line { stroke-width: 4; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; padding: 0; margin: .2rem 0; font-size: 12px; max-height: 16rem; overflow-y: auto; }
.key { width: 30px; height: 8px; margin-right: .4rem; } .key path { stroke-width: 2.5; }
code { font-size: 12.5px; } .note { color: #555; }
)";

std::string cells(const std::vector<std::string>& row, const char* tag, bool text_last = false) {
  std::string out;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const bool text = text_last && i + 1 == row.size();
    out += std::string("<") + tag + (text ? " class=\"text\">" : ">") + html_text(row[i]) + "</" +
           tag + ">";
  }
  return out;
}

std::string table_of(const std::vector<std::vector<std::string>>& rows) {
  std::string out = "<div class=\"wide\"><table><thead><tr>" + cells(rows.front(), "th") +
                    "</tr></thead><tbody>\n";
  for (std::size_t i = 1; i < rows.size(); ++i) out += "<tr>" + cells(rows[i], "td") + "</tr>\n";
  return out + "</tbody></table></div>\n";
}

// A run's name on this page: its folder's, with as much of the path as sets it apart.
std::vector<std::string> names_of(const std::vector<RunSide>& runs) {
  std::map<std::string, int> seen;
  std::vector<std::string> names;
  for (const RunSide& run : runs)
    ++seen[(fs::path(run.path) / "").parent_path().filename().string()];
  for (const RunSide& run : runs) {
    const std::string name = (fs::path(run.path) / "").parent_path().filename().string();
    names.push_back(seen[name] == 1 ? name : run.path);
  }
  return names;
}

// The fields that the configs do not agree on, in their order; heads and key size also where they
// follow from others.
std::vector<std::string> varying(const std::vector<RunSide>& runs) {
  std::vector<std::string> keys;
  const auto add = [&](const std::string& key) {
    if (key != "name" && std::find(keys.begin(), keys.end(), key) == keys.end())
      keys.push_back(key);
  };
  for (std::size_t i = 1; i < runs.size(); ++i) {
    for (const char* key : {"model.attention.heads", "model.attention.key_size"})
      if (!equal(value_at(runs.front().resolved, key), value_at(runs[i].resolved, key))) add(key);
    for (const Difference& d : differences(runs.front().given, runs[i].given))
      if (!d.key.starts_with("model.attention.heads.")) add(d.key);  // a budget
  }
  return keys;
}

// The end of a key: "attention.heads" of "model.attention.heads" where "heads" alone is not unique.
std::string short_key(const std::string& key, const std::vector<std::string>& keys) {
  for (std::size_t dot = key.rfind('.'); dot != std::string::npos && dot > 0;
       dot = key.rfind('.', dot - 1)) {
    const std::string end = key.substr(dot);
    if (std::count_if(keys.begin(), keys.end(),
                      [&](const std::string& k) { return ("." + k).ends_with(end); }) == 1)
      return end.substr(1);
  }
  return key;
}

bool has_ended_well(const RunSide& run) {
  return real_of(run.run->find("exit_code")) == static_cast<double>(Exit::kDone);
}
bool has_diverged(const RunSide& run) {
  return real_of(run.run->find("exit_code")) == static_cast<double>(Exit::kDiverged);
}

std::string runs_table(const std::vector<RunSide>& runs, const std::vector<std::string>& names,
                       const std::vector<std::string>& keys) {
  std::vector<std::string> head{"run"};
  for (const std::string& key : keys) head.push_back(short_key(key, keys));
  std::string body;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunSide& run = runs[i];
    std::vector<std::string> row{names[i]};
    for (const std::string& key : keys) row.push_back(plain_text(value_at(run.resolved, key)));
    const auto add = [&](const std::string& title, const std::string& text) {
      if (i == 0) head.push_back(title);
      row.push_back(text);
    };
    const auto ended = endings(run);
    for (std::size_t e = 1; e < ended.size(); ++e) add(ended[e].first, ended[e].second);
    add("d H r of a layer", grouped(run.budget.d_h_r));
    add("parameters", grouped(run.budget.parameters));
    add(ended.front().first, ended.front().second);
    body += std::string(has_ended_well(run) ? "<tr>" : "<tr class=\"bad\">") +
            cells(row, "td", true) + "</tr>\n";
  }
  return "<div class=\"wide\"><table id=\"runs\"><thead><tr>" + cells(head, "th") +
         "</tr></thead><tbody>\n" + body + "</tbody></table></div>\n";
}

std::vector<std::pair<double, double>> pairs(const CsvTable& table, const std::string& y) {
  std::vector<std::pair<double, double>> points;
  if (!table.columns.contains("step") || !table.columns.contains(y)) return points;
  for (std::size_t i = 0; i < table.rows; ++i)
    points.emplace_back(table.column("step")[i], table.column(y)[i]);
  return points;
}

// Baselines of one number, by name.
std::map<std::string, double> level_baselines(const RunSide& run) {
  const CsvTable table = read_csv(fs::path(run.path) / "baselines.csv");
  std::map<std::string, double> out;
  for (std::size_t i = 0; i < table.rows; ++i)
    if (std::isnan(table.column("position")[i])) out[table.first[i]] = table.column("error")[i];
  return out;
}

Chart loss_chart(const std::vector<RunSide>& runs, const std::vector<std::string>& names,
                 const char* file, const std::string& title, bool baselines) {
  Chart chart{title, "update", "loss", true, true, {}};
  double first = INFINITY, last = 1;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ChartLine line{names[i], pairs(read_csv(fs::path(runs[i].path) / file), "loss"), false,
                   has_diverged(runs[i])};
    for (const auto& [step, loss] : line.points) {
      if (step > 0) first = std::min(first, step);  // step 0 has no place on the axis
      last = std::max(last, step);
    }
    line.points = thinned(line.points, kMostPoints);
    chart.lines.push_back(std::move(line));
  }
  if (!baselines) return chart;
  const std::map<std::string, double> levels = level_baselines(runs.front());
  // Those of the first run hold for all only where the task is the same.
  const bool same = std::all_of(runs.begin(), runs.end(), [&](const RunSide& run) {
    const auto is_task = [](const Difference& d) { return d.key.starts_with("task."); };
    const auto found = differences(runs.front().resolved, run.resolved);
    return std::none_of(found.begin(), found.end(), is_task);
  });
  if (!same) return chart;
  for (const auto& [name, error] : levels)
    chart.lines.push_back({name, {{std::min(first, last), error}, {last, error}}, true, false});
  return chart;
}

// The error at the last evaluation against the examples that a prediction has seen.
Chart position_chart(const std::vector<RunSide>& runs, const std::vector<std::string>& names) {
  Chart chart{"Held-out error against in-context examples, at the last evaluation",
              "examples",
              "error, normalised",
              false,
              true,
              {}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const CsvTable table = read_csv(fs::path(runs[i].path) / "eval_positions.csv");
    ChartLine line{names[i], {}, false, has_diverged(runs[i])};
    for (std::size_t row = 0; row < table.rows; ++row)
      if (table.column("step")[row] == table.column("step").back())
        line.points.emplace_back(table.column("position")[row], table.column("error")[row]);
    if (!line.points.empty()) chart.lines.push_back(std::move(line));
  }
  if (chart.lines.empty()) return chart;
  double lowest = INFINITY;
  for (const ChartLine& line : chart.lines)
    for (const auto& [x, y] : line.points)
      if (y > 0) lowest = std::min(lowest, y);
  const CsvTable table = read_csv(fs::path(runs.front().path) / "baselines.csv");
  std::vector<std::string> order;
  std::map<std::string, ChartLine> lines;
  for (std::size_t row = 0; row < table.rows; ++row) {
    const double position = table.column("position")[row];
    const double error = table.column("error")[row];
    if (std::isnan(position)) continue;
    const std::string& name = table.first[row];
    if (!lines.contains(name)) order.push_back(name);
    // What solves the task to rounding errors would leave the runs no room.
    lines[name].points.emplace_back(position, error < lowest / 10 ? NAN : error);
  }
  for (const std::string& name : order)
    chart.lines.push_back({name, lines[name].points, true, false});
  return chart;
}

void flatten(const json::Value& value, const std::string& prefix,
             std::vector<std::vector<std::string>>& rows, const std::vector<std::string>& without) {
  for (const auto& [key, inner] : *value.object()) {
    const std::string path = prefix.empty() ? key : prefix + "." + key;
    const auto same = [&](const std::string& k) { return k == path || path.starts_with(k + "."); };
    if (std::any_of(without.begin(), without.end(), same)) continue;
    if (inner.object() != nullptr)
      flatten(inner, path, rows, without);
    else
      rows.push_back({path, plain_text(&inner)});
  }
}

std::string differences_table(const std::vector<RunSide>& runs,
                              const std::vector<std::string>& names,
                              const std::vector<std::string>& keys) {
  if (runs.size() == 1) return "";
  std::string out = "<h2>What differs</h2>\n";
  if (keys.empty()) return out + "<p>Nothing but their names: the configs are the same.</p>\n";
  std::vector<std::vector<std::string>> rows{{"field", "values", "runs"}};
  for (const std::string& key : keys) {
    std::vector<std::pair<std::string, std::vector<std::string>>> values;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::string text = plain_text(value_at(runs[i].resolved, key));
      const auto same = [&](const auto& value) { return value.first == text; };
      const auto found = std::find_if(values.begin(), values.end(), same);
      if (found == values.end())
        values.push_back({text, {names[i]}});
      else
        found->second.push_back(names[i]);
    }
    for (std::size_t v = 0; v < values.size(); ++v) {
      const auto& [text, of] = values[v];
      rows.push_back({v == 0 ? key : "", text,
                      of.size() == 1 ? of.front() : std::to_string(of.size()) + " runs"});
    }
  }
  return out + table_of(rows);
}

std::string places_table(const std::vector<RunSide>& runs, const std::vector<std::string>& names) {
  std::vector<std::vector<std::string>> rows{{"run", "started", "ended", "resumes", "threads",
                                              "precision", "processor", "version", "commit"}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const json::Value& run = *runs[i].run;
    const json::Value* host = run.find("host");
    rows.push_back({names[i], plain_text(run.find("start")), plain_text(run.find("end")),
                    whole_text(run.find("resumes")), whole_text(run.find("threads")),
                    plain_text(run.find("precision")),
                    plain_text(host == nullptr ? nullptr : host->find("cpu")),
                    plain_text(run.find("version")), plain_text(run.find("commit"))});
  }
  return table_of(rows);
}

}  // namespace

std::string report_page(const std::vector<RunSide>& runs,
                        const std::vector<std::pair<std::string, std::string>>& unreadable) {
  const std::vector<std::string> names = names_of(runs), keys = varying(runs);
  const std::string title =
      runs.size() == 1 ? names.front() : std::to_string(runs.size()) + " runs";
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>" +
                    html_text(title) +
                    " - headroom</title>\n<meta name=\"viewport\" "
                    "content=\"width=device-width\">\n<style>" +
                    kStyle + "</style></head><body>\n<h1>" + html_text(title) + "</h1>\n";
  for (const auto& [path, why] : unreadable) {
    out += "<p class=\"unreadable\"><strong>" + html_text(path) +
           "</strong> cannot be read and is left out: " + html_text(why) + "</p>\n";
  }
  out += runs_table(runs, names, keys) + "<h2>Curves</h2>\n<div class=\"charts\">\n";
  const std::vector<Chart> charts{
      loss_chart(runs, names, "train.csv", "Training loss, both axes logarithmic", false),
      loss_chart(runs, names, "eval.csv", "Held-out loss, both axes logarithmic", true),
      position_chart(runs, names)};
  std::string drawn;
  for (const Chart& chart : charts) drawn += chart_html(chart);
  out += (drawn.empty() ? "<p>No run has rows to draw yet.</p>\n" : drawn) + "</div>\n" +
         "<p class=\"note\">A row of train.csv is a mean of updates; a curve of more than " +
         std::to_string(kMostPoints) +
         " rows is drawn through the means of as many stretches. Values of 0 have no place on a "
         "logarithmic axis; baselines end where they are below a tenth of every run.</p>\n" +
         differences_table(runs, names, keys);
  std::vector<std::vector<std::string>> shared{{"field", "value"}};
  flatten(runs.front().resolved, "", shared, runs.size() == 1 ? std::vector<std::string>{} : keys);
  out += std::string("<h2>Config") + (runs.size() == 1 ? "" : " that all share") +
         "</h2>\n<details" + (runs.size() == 1 ? " open" : "") +
         "><summary>every field, what the config left null filled in</summary>\n" +
         table_of(shared) +
         "</details>\n<h2>Where they ran</h2>\n<details><summary>times, "
         "machine, version</summary>\n" +
         places_table(runs, names) + "</details>\n<p class=\"note\">Written by headroom " +
         html_text(version()) + ".</p>\n</body></html>\n";
  return out;
}

}  // namespace headroom
