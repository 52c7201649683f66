#include "cli/control_report.h"

#include <cmath>

#include "cli/table.h"
#include "config/compare.h"
#include "config/write.h"

namespace headroom {
namespace {

// "+0.53 %".
std::string percent(double original, double control) {
  if (original == 0) return control == 0 ? "+0.00 %" : "-";
  const double difference = 100 * (control / original - 1);
  return (difference >= 0 ? "+" : "") + fixed(difference, 2) + " %";
}
std::string percent(std::uint64_t original, std::uint64_t control) {
  return percent(static_cast<double>(original), static_cast<double>(control));
}

std::string sets_text(const RunConfig& original, const ModelConfig& control) {
  std::string out;
  for (const std::string& item : control_sets(original, control))
    out += (out.empty() ? "--set " : " --set ") + item;
  return out.empty() ? "(nothing to set: this config is plain)" : out;
}

// A column of the table: the original, or a control beside its difference from it.
struct Column {
  std::string title;
  ModelConfig resolved;
  Budget budget;
};

}  // namespace

std::vector<std::string> control_sets(const RunConfig& original, const ModelConfig& control) {
  RunConfig changed = original;
  changed.model = control;
  std::vector<std::string> sets;
  const json::Value from = config_value(original), to = config_value(changed);
  for (const Difference& d : differences(from, to)) {
    if (d.b == nullptr) continue;
    const auto* text = std::get_if<std::string>(&d.b->data);
    sets.push_back(d.key + "=" + (text != nullptr ? *text : json::write(*d.b, 0)));
  }
  return sets;
}

ControlReport::ControlReport(const RunConfig& config, const ModelIo& model_io,
                             const std::string& varied)
    : by(varied),
      original(config),
      budget(model_budget(config.model, model_io)),
      io(model_io),
      search(find_control(config.model, model_io,
                          varied == "ffn" ? ControlBy::kFfn : ControlBy::kHeads)) {}

std::string ControlReport::text() const {
  std::vector<Column> columns{{"original", resolve(original.model, io), budget}};
  std::string sets;
  const auto add = [&](const std::string& title, const Control& control) {
    columns.push_back({title, resolve(control.config, io), model_budget(control.config, io)});
    sets += (search.match() == nullptr ? title + ": " : "") + sets_text(original, control.config) +
            "\n";
  };
  if (const Control* match = search.match()) {
    add("control", *match);
  } else {
    if (search.below) add("fewer", *search.below);
    if (search.at_least) add("more", *search.at_least);
  }
  std::vector<std::vector<std::string>> rows{{"plain control by " + by}};
  for (const Column& c : columns) {
    rows[0].push_back(c.title);
    if (&c != &columns.front()) rows[0].emplace_back();
  }
  const auto row = [&](const char* name, const auto& value, const auto& shown) {
    rows.push_back({name});
    const auto from = static_cast<double>(value(columns.front()));
    for (const Column& c : columns) {
      rows.back().push_back(shown(value(c)));
      if (&c != &columns.front())
        rows.back().push_back(percent(from, static_cast<double>(value(c))));
    }
  };
  row(
      "parameters", [](const Column& c) { return c.budget.parameters; }, grouped);
  row(
      "heads a copy",
      [](const Column& c) { return static_cast<std::uint64_t>(c.resolved.attention.heads); },
      grouped);
  row(
      "FFN width", [](const Column& c) { return std::uint64_t{c.resolved.ffn.width}; }, grouped);
  row(
      "d H r of a layer", [](const Column& c) { return c.budget.d_h_r; }, grouped);
  row(
      "d H r of the model", [](const Column& c) { return c.budget.model_d_h_r; }, grouped);
  row(
      "FLOPs a token", [](const Column& c) { return c.budget.flops_per_token; }, short_number);
  return text_table(rows) + sets;
}

json::Value ControlReport::value() const {
  const auto side = [&](const std::optional<Control>& control) {
    json::Value value;
    if (!control) return value;
    json::Array sets;
    for (const std::string& item : control_sets(original, control->config))
      sets.push_back(json::text(item));
    const Budget b = model_budget(control->config, io);
    const double from = static_cast<double>(search.original);
    json::add(value, "set", json::Value(sets));
    json::add(value, "parameters", json::number(control->parameters));
    json::add(value, "difference",
              json::number((static_cast<double>(control->parameters) - from) / from));
    json::add(value, "d_h_r", json::number(b.d_h_r));
    json::add(value, "model_d_h_r", json::number(b.model_d_h_r));
    json::add(value, "forward_flops_per_token", json::number(b.flops_per_token));
    return value;
  };
  const Control* match = search.match();
  json::Value value;
  json::add(value, "by", json::text(by));
  json::add(value, "original_parameters", json::number(search.original));
  json::add(value, "tolerance", json::number(static_cast<double>(kControlPercent) / 100));
  json::add(value, "match", match == nullptr ? json::Value() : side(*match));
  json::add(value, "at_least", side(search.at_least));
  json::add(value, "below", side(search.below));
  return value;
}

std::string ControlReport::failure() const {
  std::string nearest;
  for (const std::optional<Control>* control : {&search.below, &search.at_least}) {
    if (!*control) continue;
    const ModelConfig c = resolve((*control)->config, io);
    nearest += (nearest.empty() ? "" : " or ") +
               (by == "ffn" ? "model.ffn.width = " + std::to_string(c.ffn.width)
                            : "model.attention.heads = " + std::to_string(c.attention.heads)) +
               " (" + grouped((*control)->parameters) + " parameters, " +
               percent(search.original, (*control)->parameters) + ")";
  }
  return "no plain config by " + by + " within " + std::to_string(kControlPercent) + " % of " +
         grouped(search.original) + " parameters; the nearest: " + nearest;
}

}  // namespace headroom
