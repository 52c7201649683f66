#include "model/budget.h"

#include "model/attention.h"
#include "model/transformer.h"

namespace headroom {
namespace {

// The part a parameter counts under: "layers.3.attention.query.weight" -> "attention query, key,
// value".
std::string part_of(const std::string& name, bool& in_layer) {
  std::string rest = name;
  in_layer = rest.starts_with("layers.");
  if (in_layer) rest = rest.substr(rest.find('.', 7) + 1);
  if (rest.starts_with("attention.output")) return "attention output";
  if (rest.starts_with("attention.mix")) return "attention mixing";
  if (rest.starts_with("attention.")) return "attention query, key, value";
  if (rest.starts_with("ffn.")) return "ffn";
  if (rest.starts_with("read_in")) return "read-in";
  if (rest.starts_with("read_out")) return "read-out";
  if (rest.starts_with("positions")) return "positions";
  return "norms";
}

BudgetPart& part(std::vector<BudgetPart>& parts, const std::string& name) {
  for (BudgetPart& p : parts)
    if (p.name == name) return p;
  parts.push_back({name, 0, 0});
  return parts.back();
}

}  // namespace

Budget model_budget(const ModelConfig& config, const ModelIo& io) {
  const ModelConfig c = resolve(config, io);
  ParamTable table;
  Binder<float> declare(table);
  transformer_params(declare, c, io);
  Budget b;
  const AttentionSizes n = attention_sizes(c, 1, io.tokens);
  b.d_h_r = std::uint64_t{c.width} * n.queries;

  for (const ParamRow& row : table.rows()) {
    bool in_layer = false;
    const std::string name = part_of(row.name, in_layer);
    // Matrices multiply; biases, norms and positions add a little that is not counted.
    const bool multiplies =
        row.name.ends_with(".weight") && row.shape.size() == 2 && name != "positions";
    const double flops = multiplies ? 2.0 * static_cast<double>(row.size) : 0.0;
    const auto add = [&](BudgetPart& p) {
      p.parameters += row.size;
      p.forward_flops_per_token += flops;
    };
    add(part(b.model, name));
    if (row.name.starts_with("layers.0.")) add(part(b.layer, name));
  }
  const double keys =
      n.shape.causal ? (static_cast<double>(io.tokens) + 1) / 2 : static_cast<double>(io.tokens);
  const AttentionShape& a = n.shape;
  const double scores = 2 * keys * static_cast<double>(n.queries + n.sums);
  const std::size_t mixed = (c.attention.mix_scores == MixInit::kNone ? 0 : a.score_heads) +
                            (c.attention.mix_weights == MixInit::kNone ? 0 : a.value_heads);
  const double mixing = 2 * keys * static_cast<double>(a.copies * a.heads * mixed);
  const double layers = static_cast<double>(c.layers);
  part(b.layer, "attention scores and sums").forward_flops_per_token += scores;
  part(b.model, "attention scores and sums").forward_flops_per_token += scores * layers;
  if (mixed > 0) {
    part(b.layer, "attention mixing").forward_flops_per_token += mixing;
    part(b.model, "attention mixing").forward_flops_per_token += mixing * layers;
  }

  for (const BudgetPart& p : b.layer) {
    b.layer_parameters += p.parameters;
    b.layer_flops_per_token += p.forward_flops_per_token;
  }
  for (const BudgetPart& p : b.model) {
    b.parameters += p.parameters;
    b.flops_per_token += p.forward_flops_per_token;
  }
  b.step_flops_per_token = 3 * b.flops_per_token;
  return b;
}

}  // namespace headroom
