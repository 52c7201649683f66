#include "model/budget.h"

#include <string_view>

#include "model/attention.h"
#include "model/transformer.h"

namespace headroom {
namespace {

// A parameter's place: "decoder.layers.3.cross_attention.key.weight".
struct Place {
  std::string rest;  // "cross_attention.key.weight"
  bool encoder = false, in_layer = false, first_layer = false;
  explicit Place(const std::string& name) : rest(name) {
    const auto cut = [&](std::string_view prefix) {
      if (!rest.starts_with(prefix)) return false;
      rest.erase(0, prefix.size());
      return true;
    };
    encoder = cut("encoder.");
    cut("decoder.");
    in_layer = cut("layers.");
    if (!in_layer) return;
    first_layer = rest.starts_with("0.");
    rest.erase(0, rest.find('.') + 1);
  }
  bool cross() const { return rest.starts_with("cross_attention."); }

  std::string part() const {
    if (rest.starts_with("attention.output")) return "attention output";
    if (rest.starts_with("attention.mix")) return "attention mixing";
    if (rest.starts_with("attention.")) return "attention query, key, value";
    if (cross()) return "cross-attention";
    if (rest.starts_with("ffn.")) return "ffn";
    if (rest.starts_with("read_in")) return "read-in";
    if (rest.starts_with("read_out")) return "read-out";
    if (rest.starts_with("positions")) return "positions";
    return "norms";
  }
  // Whether it is applied to the tokens that are asked, not to those that ask.
  bool keys_or_values() const {
    return rest.find(".key.") != std::string::npos || rest.find(".value.") != std::string::npos;
  }
};

BudgetPart& part(std::vector<BudgetPart>& parts, const std::string& name) {
  for (BudgetPart& p : parts)
    if (p.name == name) return p;
  parts.push_back({name, 0, 0, 0});
  return parts.back();
}

// Scores, sums and mixing of one attention layer, a sequence.
struct AttentionFlops {
  double scores = 0, mixing = 0;
  AttentionFlops(const ModelConfig& c, AttentionSite site, std::size_t queries, std::size_t keys) {
    const AttentionSizes n = attention_sizes(c, site, 1, queries, keys);
    const AttentionShape& a = n.shape;
    const double pairs =
        static_cast<double>(queries) *
        (a.causal ? (static_cast<double>(keys) + 1) / 2 : static_cast<double>(keys));
    const std::size_t mixed = (c.attention.mix_scores == MixInit::kNone ? 0 : a.score_heads) +
                              (c.attention.mix_weights == MixInit::kNone ? 0 : a.value_heads);
    scores = 2 * pairs * static_cast<double>(n.queries + n.sums);
    mixing = 2 * pairs * static_cast<double>(a.copies * a.heads * mixed);
  }
};

void count_heads(HeadWeights& heads, const ParamRow& row) {
  const std::size_t at = row.name.find("attention.");
  if (at == std::string::npos || !row.name.ends_with(".weight")) return;
  const std::string map = row.name.substr(row.name.find('.', at) + 1);
  if (map.starts_with("mix_"))
    heads.mixing += row.size;
  else if (map.starts_with("query") || map.starts_with("key"))
    heads.query_key += row.size;
  else if (map.starts_with("value") || map.starts_with("output"))
    heads.value_output += row.size;
}

}  // namespace

Budget model_budget(const ModelConfig& config, const ModelIo& io) {
  const ModelConfig c = resolve(config, io);
  const ParamTable table = parameter_table(c, io);
  Budget b;
  const bool decoder = c.type == ModelType::kEncoderDecoder, asked = io.queries > 0;
  const double layers = static_cast<double>(c.layers);
  const std::size_t askers = asked ? io.queries : io.tokens;
  const double sequence = static_cast<double>(io.tokens + io.queries);
  b.d_h_r = std::uint64_t{c.width} * attention_sizes(c, {}, 1, 1, 1).queries;

  for (const ParamRow& row : table.rows()) {
    const Place place(row.name);
    const std::string name = place.part();
    // Matrices multiply; biases, norms and positions add a little that is not counted.
    const bool multiplies = row.name.ends_with(".weight") && row.shape.size() == 2 &&
                            name != "positions" && !row.name.ends_with(".scale.weight");
    const bool everywhere = name == "read-in" && asked;
    const bool on_memory =
        place.encoder || (place.keys_or_values() && (decoder ? place.cross() : asked));
    const double rows = everywhere ? sequence : static_cast<double>(on_memory ? io.tokens : askers);
    const double once = multiplies ? 2.0 * static_cast<double>(row.size) * rows / sequence : 0.0;
    BudgetPart& whole = part(b.model, name);
    whole.parameters += row.size;
    if (row.name.ends_with(".bias")) whole.biases += row.size;
    whole.forward_flops_per_token += c.share_layers && place.in_layer ? once * layers : once;
    count_heads(b.model_heads, row);
    if (row.name.ends_with("attention.query.weight")) b.model_d_h_r += row.size;
    if (!place.first_layer || place.encoder) continue;
    BudgetPart& layer = part(b.layer, name);
    layer.parameters += row.size;
    if (row.name.ends_with(".bias")) layer.biases += row.size;
    count_heads(b.layer_heads, row);
    layer.forward_flops_per_token += once;
  }
  const auto add = [&](const AttentionFlops& flops, bool in_main) {
    const auto to = [&](const char* name, double of_sequence) {
      if (of_sequence == 0) return;
      if (in_main) part(b.layer, name).forward_flops_per_token += of_sequence / sequence;
      part(b.model, name).forward_flops_per_token += of_sequence / sequence * layers;
    };
    to("attention scores and sums", flops.scores);
    to("attention mixing", flops.mixing);
  };
  const bool causal = c.attention.mask == Mask::kCausal;
  if (decoder) {
    add(AttentionFlops(c, {}, io.tokens, io.tokens), false);
    add(AttentionFlops(c, {.cross = false, .causal = causal, .distances = true}, askers, askers),
        true);
    add(AttentionFlops(c, kDecoderCross, askers, io.tokens), true);
  } else {
    add(AttentionFlops(c, {.cross = asked, .causal = causal, .distances = !asked}, askers,
                       io.tokens),
        true);
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
