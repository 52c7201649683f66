#include "cli/budget_report.h"

#include "cli/table.h"

namespace headroom {
namespace {

std::string parts_text(const char* title, const std::vector<BudgetPart>& parts,
                       std::uint64_t parameters, double flops) {
  std::vector<std::vector<std::string>> rows{{title, "parameters", "biases", "FLOPs a token"}};
  std::uint64_t biases = 0;
  for (const BudgetPart& p : parts) {
    rows.push_back({p.name, grouped(p.parameters), grouped(p.biases),
                    short_number(p.forward_flops_per_token)});
    biases += p.biases;
  }
  rows.push_back({"total", grouped(parameters), grouped(biases), short_number(flops)});
  return text_table(rows);
}

json::Value parts_value(const std::vector<BudgetPart>& parts) {
  json::Array list;
  for (const BudgetPart& p : parts) {
    json::Value line;
    json::add(line, "part", json::text(p.name));
    json::add(line, "parameters", json::number(p.parameters));
    json::add(line, "biases", json::number(p.biases));
    json::add(line, "forward_flops_per_token", json::number(p.forward_flops_per_token));
    list.push_back(line);
  }
  return json::Value(list);
}

json::Value heads_value(const HeadWeights& heads) {
  json::Value value;
  json::add(value, "query_key", json::number(heads.query_key));
  json::add(value, "value_output", json::number(heads.value_output));
  json::add(value, "mixing", json::number(heads.mixing));
  return value;
}

}  // namespace

std::string budget_text(const Budget& b) {
  const auto row = [](const char* name, std::uint64_t layer, std::uint64_t model) {
    return std::vector<std::string>{name, grouped(layer), grouped(model)};
  };
  return parts_text("one layer, forward", b.layer, b.layer_parameters, b.layer_flops_per_token) +
         "\n" + parts_text("whole model, forward", b.model, b.parameters, b.flops_per_token) +
         "\n" +
         text_table({{"budgets", "one layer", "whole model"},
                     row("d H r", b.d_h_r, b.model_d_h_r),
                     row("query and key weights", b.layer_heads.query_key, b.model_heads.query_key),
                     row("value and output weights", b.layer_heads.value_output,
                         b.model_heads.value_output),
                     row("mixing weights", b.layer_heads.mixing, b.model_heads.mixing)});
}

json::Value budget_value(const Budget& b) {
  json::Value value;
  json::add(value, "d_h_r", json::number(b.d_h_r));
  json::add(value, "layer", parts_value(b.layer));
  json::add(value, "model", parts_value(b.model));
  json::add(value, "layer_parameters", json::number(b.layer_parameters));
  json::add(value, "parameters", json::number(b.parameters));
  json::add(value, "forward_flops_per_token", json::number(b.flops_per_token));
  json::add(value, "model_d_h_r", json::number(b.model_d_h_r));
  json::add(value, "layer_forward_flops_per_token", json::number(b.layer_flops_per_token));
  json::add(value, "step_flops_per_token", json::number(b.step_flops_per_token));
  json::add(value, "layer_weights", heads_value(b.layer_heads));
  json::add(value, "model_weights", heads_value(b.model_heads));
  return value;
}

}  // namespace headroom
