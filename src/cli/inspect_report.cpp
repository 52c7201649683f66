#include "cli/inspect_report.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "cli/table.h"
#include "core/json.h"

namespace headroom {
namespace {

constexpr std::size_t kRowsShown = 32;

// A column of a table of heads: its title, its value for a row (nan or absent: "-"), its decimals.
struct Column {
  const char* title;
  int digits;
  std::function<std::optional<double>(const HeadInspection&)> value;
};

using SpectrumOf = std::optional<Spectrum> HeadInspection::*;
Column spectrum_column(const char* title, int digits, SpectrumOf which,
                       const std::function<double(const Spectrum&)>& value) {
  return {title, digits, [=](const HeadInspection& row) {
            return row.*which ? std::optional(value(*(row.*which))) : std::nullopt;
          }};
}

std::vector<Column> spectrum_columns(SpectrumOf which) {
  return {spectrum_column("largest", 4, which,
                          [](const Spectrum& s) { return s.singular_values.front(); }),
          spectrum_column("smallest", 4, which,
                          [](const Spectrum& s) { return s.singular_values.back(); }),
          spectrum_column("rank", 0, which,
                          [](const Spectrum& s) { return static_cast<double>(s.numerical_rank); }),
          spectrum_column("stable rank", 2, which, [](const Spectrum& s) { return s.stable_rank; }),
          spectrum_column("effective rank", 2, which,
                          [](const Spectrum& s) { return s.effective_rank; }),
          spectrum_column("angle to I", 1, which, [](const Spectrum& s) { return s.angle_deg; }),
          spectrum_column("scale", 3, which, [](const Spectrum& s) { return s.scale; })};
}

std::vector<Column> attention_columns() {
  const auto column = [](const char* title, int digits, auto value) {
    return Column{title, digits, [=](const HeadInspection& row) {
                    return row.attention ? value(*row.attention) : std::nullopt;
                  }};
  };
  using Value = std::optional<double>;
  return {column("entropy", 4, [](const HeadAttention& a) { return Value(a.entropy); }),
          column("largest weight", 4, [](const HeadAttention& a) { return Value(a.max_weight); }),
          column("logit std", 3, [](const HeadAttention& a) { return Value(a.logit_std); }),
          column("hit rate", 4, [](const HeadAttention& a) { return a.hit_rate; }),
          column("cosine", 4, [](const HeadAttention& a) { return Value(a.cosine); }),
          {"loss without", 5,
           [](const HeadInspection& row) {
             return row.loss_without ? Value(row.loss_without->mean) : std::nullopt;
           }},
          {"+-", 5, [](const HeadInspection& row) {
             return row.loss_without ? Value(row.loss_without->sem) : std::nullopt;
           }}};
}

std::string cell(const std::optional<double>& value, int digits) {
  if (!value || std::isnan(*value)) return "-";
  if (std::abs(*value) >= 1e6) return short_number(*value);
  return fixed(*value, digits);
}

// The q-quantile of the column, between its sorted values.
std::optional<double> quantile(std::vector<double> sorted, double q) {
  if (sorted.empty()) return std::nullopt;
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::string heads_table(const std::string& title, const LayerInspection& layer,
                        const std::vector<Column>& columns) {
  std::vector<std::vector<std::string>> table{{title}};
  for (const Column& column : columns) table[0].push_back(column.title);
  const auto filled = [&](const HeadInspection& row) {
    return std::any_of(columns.begin(), columns.end(),
                       [&](const Column& column) { return column.value(row).has_value(); });
  };
  if (layer.rows.size() <= kRowsShown) {
    for (const HeadInspection& row : layer.rows) {
      if (!filled(row)) continue;
      table.push_back(
          {(layer.copies > 1 ? "copy " + std::to_string(row.copy) + " head " : "head ") +
           std::to_string(row.head)});
      for (const Column& column : columns)
        table.back().push_back(cell(column.value(row), column.digits));
    }
    return text_table(table);
  }
  std::vector<std::vector<double>> sorted(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (const HeadInspection& row : layer.rows) {
      const std::optional<double> value = columns[i].value(row);
      if (value && !std::isnan(*value)) sorted[i].push_back(*value);
    }
    std::sort(sorted[i].begin(), sorted[i].end());
  }
  for (const auto& [name, q] : {std::pair{"lowest", 0.0},
                                {"lower quartile", .25},
                                {"median", .5},
                                {"upper quartile", .75},
                                {"highest", 1.0}}) {
    table.push_back({name});
    for (std::size_t i = 0; i < columns.size(); ++i)
      table.back().push_back(cell(quantile(sorted[i], q), columns[i].digits));
  }
  return text_table(table);
}

std::string mixers_text(const char* name, const std::vector<MixerSpectrum>& mixers) {
  std::string out;
  for (std::size_t copy = 0; copy < mixers.size(); ++copy) {
    const MixerSpectrum& m = mixers[copy];
    out += name + (mixers.size() > 1 ? " of copy " + std::to_string(copy) : std::string()) +
           ": singular values";
    for (const double value : m.singular_values) out += " " + fixed(value, 3);
    if (m.distance_to_identity)
      out += "; distance to I " + fixed(*m.distance_to_identity, 3) + " (Frobenius / sqrt(heads))";
    out += "\n";
  }
  return out;
}

std::string layer_text(const LayerInspection& layer) {
  const auto text = [](std::size_t n) { return std::to_string(n); };
  std::string out = layer.name + ": " +
                    (layer.copies > 1 ? text(layer.copies) + " copies of " : std::string()) +
                    text(layer.heads) + (layer.heads == 1 ? " head" : " heads");
  if (layer.score_heads != layer.heads) out += ", " + text(layer.score_heads) + " of scores";
  if (layer.value_heads != layer.heads) out += ", " + text(layer.value_heads) + " of values";
  out += ", key_size " + text(layer.key_size) + ", value_size " + text(layer.value_size) +
         ", width " + text(layer.width);
  if (!layer.mix_scores.empty())
    out += "; a mixed score has rank up to min(width, score heads * key_size) = " +
           text(layer.score_rank);
  out += "\n" + heads_table("W_Q^T W_K", layer, spectrum_columns(&HeadInspection::qk));
  if (!layer.mix_scores.empty())
    out += heads_table("mixed W_Q^T W_K", layer, spectrum_columns(&HeadInspection::mixed_qk));
  out += heads_table("W_O W_V", layer, spectrum_columns(&HeadInspection::ov));
  out += heads_table("attention", layer, attention_columns());
  return out + mixers_text("mix_scores", layer.mix_scores) +
         mixers_text("mix_weights", layer.mix_weights) + "\n";
}

json::Value real(const std::optional<double>& value) {
  return value && !std::isnan(*value) ? json::number(*value) : json::Value();
}
json::Value whole(std::size_t value) { return json::number(std::uint64_t{value}); }

json::Value reals(std::span<const double> values) {
  json::Array out;
  for (const double value : values) out.push_back(real(value));
  return json::Value(out);
}

json::Value mean_value(const std::optional<Mean>& mean) {
  if (!mean) return {};
  json::Value value;
  json::add(value, "mean", real(mean->mean));
  json::add(value, "sem", real(mean->sem));
  return value;
}

json::Value spectrum_value(const std::optional<Spectrum>& s) {
  if (!s) return {};
  json::Value value;
  json::add(value, "singular_values", reals(s->singular_values));
  json::add(value, "numerical_rank", whole(s->numerical_rank));
  json::add(value, "stable_rank", real(s->stable_rank));
  json::add(value, "effective_rank", real(s->effective_rank));
  json::add(value, "angle_deg", real(s->angle_deg));
  json::add(value, "scale", real(s->scale));
  return value;
}

json::Value attention_value(const std::optional<HeadAttention>& a) {
  if (!a) return {};
  json::Value value;
  json::add(value, "entropy", real(a->entropy));
  json::add(value, "max_weight", real(a->max_weight));
  json::add(value, "logit_std", real(a->logit_std));
  json::add(value, "hit_rate", real(a->hit_rate));
  json::add(value, "cosine", real(a->cosine));
  return value;
}

json::Value mixers_value(const std::vector<MixerSpectrum>& mixers) {
  json::Array out;
  for (const MixerSpectrum& m : mixers) {
    json::Value value;
    json::add(value, "singular_values", reals(m.singular_values));
    json::add(value, "distance_to_identity", real(m.distance_to_identity));
    out.push_back(value);
  }
  return json::Value(out);
}

json::Value layer_value(const LayerInspection& layer) {
  json::Value value;
  json::add(value, "name", json::text(layer.name));
  for (const auto& [key, n] : {std::pair{"copies", layer.copies},
                               {"score_heads", layer.score_heads},
                               {"softmax_heads", layer.heads},
                               {"value_heads", layer.value_heads},
                               {"key_size", layer.key_size},
                               {"value_size", layer.value_size},
                               {"width", layer.width},
                               {"score_rank", layer.score_rank}})
    json::add(value, key, whole(n));
  json::Array heads;
  for (const HeadInspection& row : layer.rows) {
    json::Value head;
    json::add(head, "copy", whole(row.copy));
    json::add(head, "head", whole(row.head));
    json::add(head, "qk", spectrum_value(row.qk));
    json::add(head, "mixed_qk", spectrum_value(row.mixed_qk));
    json::add(head, "ov", spectrum_value(row.ov));
    json::add(head, "attention", attention_value(row.attention));
    json::add(head, "loss_without", mean_value(row.loss_without));
    heads.push_back(head);
  }
  json::add(value, "heads", json::Value(heads));
  json::Array cosine;  // copies of rows
  for (std::size_t i = 0; i < layer.copies * layer.heads; ++i)
    cosine.push_back(reals(std::span(layer.cosine).subspan(i * layer.heads, layer.heads)));
  json::add(value, "cosine", json::Value(cosine));
  json::add(value, "mix_scores", mixers_value(layer.mix_scores));
  json::add(value, "mix_weights", mixers_value(layer.mix_weights));
  return value;
}

}  // namespace

std::string inspect_text(const Inspection& inspection) {
  std::string out;
  bool quartiles = false;
  for (const LayerInspection& layer : inspection.layers) {
    out += layer_text(layer);
    quartiles = quartiles || layer.rows.size() > kRowsShown;
  }
  std::vector<std::vector<std::string>> tokens{{"token-uniformity residual", "mean", "+-"}};
  for (const TokenSpread& t : inspection.tokens)
    tokens.push_back({t.name, fixed(t.residual.mean, 4), fixed(t.residual.sem, 4)});
  out += text_table(tokens);
  out += "\nattention and residuals over " + grouped(inspection.items) +
         " held-out items; loss without a head minus the loss of " +
         fixed(inspection.loss.mean, 4) + ", over " + grouped(inspection.ablation_items) + "\n";
  if (quartiles) out += "quartiles over the heads; each head: --json\n";
  return out;
}

std::string inspect_json(const Inspection& inspection) {
  json::Value report;
  json::add(report, "items", whole(inspection.items));
  json::add(report, "ablation_items", whole(inspection.ablation_items));
  json::add(report, "loss", mean_value(inspection.loss));
  json::Array layers, tokens;
  for (const LayerInspection& layer : inspection.layers) layers.push_back(layer_value(layer));
  json::add(report, "layers", json::Value(layers));
  for (const TokenSpread& t : inspection.tokens) {
    json::Value value = mean_value(t.residual);
    json::add(value, "name", json::text(t.name));
    tokens.push_back(value);
  }
  json::add(report, "tokens", json::Value(tokens));
  return json::write(report) + "\n";
}

}  // namespace headroom
