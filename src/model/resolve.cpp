#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "model/attention.h"
#include "model/head_budget.h"
#include "model/model.h"

namespace headroom {
namespace {

std::string text(std::size_t n) { return std::to_string(n); }

// The divisors of n: the head counts that would do.
std::string divisors(std::size_t n) {
  std::vector<std::size_t> all;
  for (std::size_t d = 1; d <= n; ++d)
    if (n % d == 0) all.push_back(d);
  constexpr std::size_t kShown = 24;
  std::string list;
  for (std::size_t i = 0; i < std::min(all.size(), kShown); ++i)
    list += (i > 0 ? ", " : "") + text(all[i]);
  return all.size() > kShown ? list + ", ..." : list;
}

std::size_t derived_size(const ModelConfig& c, const std::optional<std::size_t>& size,
                         const char* name) {
  if (size) return *size;
  const std::size_t heads = c.attention.heads;
  if (c.width % heads != 0)
    refuse("model.attention.heads = " + text(heads) + " does not divide model.width = " +
           text(c.width) + ": heads that do: " + divisors(c.width) + "; or give model.attention." +
           name + " a size of its own");
  return c.width / heads;
}

// Which heads may differ in number.
void resolve_heads(AttentionConfig& a) {
  const auto differs = [&](std::optional<std::size_t>& heads, MixInit mix, const char* heads_key,
                           const char* mix_key) {
    if (!heads) heads = a.heads;
    if (*heads == a.heads) return;
    const std::string what = std::string("model.attention.") + heads_key + " = " + text(*heads) +
                             " differs from model.attention.heads = " + text(a.heads);
    const std::string key = std::string("model.attention.") + mix_key;
    if (mix == MixInit::kNone) refuse(what + ", which needs " + key);
    if (mix == MixInit::kIdentity)
      refuse(what + ": " + key + " = identity needs equal numbers; fan_in does not");
  };
  differs(a.score_heads, a.mix_scores, "score_heads", "mix_scores");
  differs(a.value_heads, a.mix_weights, "value_heads", "mix_weights");
  if (!a.kv_heads) a.kv_heads = a.heads;
  if (*a.kv_heads == a.heads) return;
  if (a.heads % *a.kv_heads != 0)
    refuse("model.attention.kv_heads = " + text(*a.kv_heads) +
           " does not divide model.attention.heads = " + text(a.heads) +
           ": counts that do: " + divisors(a.heads));
  if (*a.score_heads != a.heads || *a.value_heads != a.heads)
    refuse("model.attention.kv_heads = " + text(*a.kv_heads) +
           " does not go with score_heads or value_heads of another number than heads = " +
           text(a.heads));
}

// The coordinates that positions take from the width.
void resolve_positions(ModelConfig& c, const ModelIo& io) {
  PositionsConfig& p = c.positions;
  if (p.type == PositionsType::kConcatenated) {
    if (!p.width && c.width > io.input_dim) p.width = c.width - io.input_dim;
    if (!p.width || *p.width >= c.width)
      refuse("model.positions.type = concatenated needs room beside the token: model.width = " +
             text(c.width) + " with " +
             (p.width ? "model.positions.width = " + text(*p.width)
                      : "tokens of size " + text(io.input_dim)) +
             "; give model.positions.width a size below model.width");
  }
  if (!p.length) p.length = std::max(io.tokens, io.queries);
  if ((p.type == PositionsType::kLearned || p.type == PositionsType::kConcatenated) &&
      *p.length < std::max(io.tokens, io.queries))
    refuse("model.positions.length = " + text(*p.length) +
           " is shorter than the task's sequences of " + text(std::max(io.tokens, io.queries)) +
           " tokens");
  const char* name = p.type == PositionsType::kRotary         ? "rotary"
                     : p.type == PositionsType::kAlibi        ? "alibi"
                     : p.type == PositionsType::kRelativeBias ? "relative_bias"
                                                              : nullptr;
  if (name != nullptr && c.attention.kind == AttentionKind::kCross)
    refuse(std::string("model.positions.type = ") + name +
           " is about distances within one sequence, model.attention.kind = cross has two");
}

void resolve_maps(ModelConfig& c) {
  resolve_head_budget(c);
  AttentionConfig& a = c.attention;
  const auto size_of_full = [&](std::optional<std::size_t>& size, const char* map,
                                const char* key) {
    if (size && *size != c.width)
      refuse(std::string("model.attention.") + map + " = full takes model.attention." + key +
             " = model.width = " + text(c.width) + ", not " + text(*size) + "; leave it null");
    if (a.kv_heads && *a.kv_heads != a.heads)
      refuse(std::string("model.attention.") + map + " = full shares nothing between heads: " +
             "model.attention.kv_heads = " + text(*a.kv_heads) + " does not go with it");
    size = c.width;
  };
  if (a.score_map == HeadMap::kFull) {
    size_of_full(a.key_size, "score_map", "key_size");
    if (a.qk_norm != QkNorm::kNone)
      refuse("model.attention.score_map = full has no keys of its own for model.attention.qk_norm");
    if (c.positions.type == PositionsType::kRotary)
      refuse(
          "model.attention.score_map = full has no keys of its own to turn: "
          "model.positions.type = rotary needs score_map = factored");
  }
  if (a.value_map == HeadMap::kFull) size_of_full(a.value_size, "value_map", "value_size");
  if (a.value_init == ValueInit::kIdentity && a.value_map != HeadMap::kFull)
    refuse(
        "model.attention.value_init = identity needs a square map a head: "
        "model.attention.value_map = full");
  a.key_size = derived_size(c, a.key_size, "key_size");
  a.value_size = derived_size(c, a.value_size, "value_size");
  if (c.positions.type == PositionsType::kRotary && *a.key_size % 2 != 0)
    refuse("model.positions.type = rotary turns pairs of coordinates: model.attention.key_size = " +
           text(*a.key_size) + " is odd");
}

// Whether the task and the model agree on who asks.
void check_queries(const ModelConfig& c, const ModelIo& io) {
  const bool cross = c.attention.kind == AttentionKind::kCross;
  const bool decoder = c.type == ModelType::kEncoderDecoder;
  if (decoder && cross)
    refuse(
        "model.type = encoder_decoder has cross-attention of its own; model.attention.kind = "
        "cross is for model.type = encoder");
  if (cross && c.attention.mask == Mask::kCausal)
    refuse(
        "model.attention.mask = causal needs queries and keys from one sequence, "
        "model.attention.kind = cross has two");
  if ((cross || decoder) && io.queries == 0)
    refuse(std::string(decoder ? "model.type = encoder_decoder" : "model.attention.kind = cross") +
           " needs query tokens: task.query = separate has them");
  if (!cross && !decoder && io.queries > 0)
    refuse(
        "the task asks with query tokens of their own: model.attention.kind = cross or model.type "
        "= encoder_decoder reads them");
}

}  // namespace

ModelConfig resolve(ModelConfig c, const ModelIo& io) {
  check_queries(c, io);
  resolve_positions(c, io);
  const std::size_t embedded = embedded_width(c);
  if (!c.read_in) c.read_in = embedded == io.input_dim ? ReadIn::kIdentity : ReadIn::kLinear;
  if (c.read_in == ReadIn::kIdentity && embedded != io.input_dim)
    refuse(
        "model.read_in = identity needs " +
        std::string(embedded == c.width ? "model.width" : "model.width - model.positions.width") +
        " = the size of the task's tokens: " + text(embedded) + " and " + text(io.input_dim) +
        " differ");
  if (!c.read_out) {
    // Where the tokens are read in as they are, the answer is read off the same coordinates.
    const bool same_space = c.read_in == ReadIn::kIdentity && io.output_dim == io.input_dim;
    c.read_out = !same_space                ? ReadOut::kLinear
                 : c.width == io.output_dim ? ReadOut::kIdentity
                                            : ReadOut::kSlice;
  }
  if (c.read_out == ReadOut::kIdentity && c.width != io.output_dim)
    refuse("model.read_out = identity needs model.width = the size of the task's answers: " +
           text(c.width) + " and " + text(io.output_dim) + " differ");
  if (c.read_out == ReadOut::kSlice && c.width < io.output_dim)
    refuse("model.read_out = slice needs model.width >= the size of the task's answers: " +
           text(c.width) + " < " + text(io.output_dim));
  const bool has_variance =
      c.norm.type == NormType::kLayerNorm || c.norm.type == NormType::kRmsNorm;
  if (!c.norm.eps) c.norm.eps = has_variance ? 1e-5 : 0.0;
  if (!c.norm.final_norm)
    c.norm.final_norm = c.norm.placement == NormPlacement::kPre && c.norm.type != NormType::kNone;
  resolve_maps(c);
  resolve_heads(c.attention);
  return c;
}

AttentionSizes attention_sizes(const ModelConfig& c, AttentionSite site, std::size_t batch,
                               std::size_t queries, std::size_t keys) {
  const AttentionConfig& a = c.attention;
  AttentionSizes n;
  AttentionShape& s = n.shape;
  s.batch = batch;
  s.queries = queries;
  s.keys = keys;
  s.copies = a.copies;
  s.score_heads = *a.score_heads;
  s.heads = a.heads;
  s.value_heads = *a.value_heads;
  s.group = a.heads / *a.kv_heads;
  s.key_size = *a.key_size;
  s.value_size = *a.value_size;
  s.shared_key = a.score_map == HeadMap::kFull;
  const double size = static_cast<double>(s.key_size);
  if (const double* number = std::get_if<double>(&a.scale)) {
    s.scale = *number;
  } else {
    switch (std::get<ScaleRule>(a.scale)) {
      case ScaleRule::kInvSqrtKeySize:
        s.scale = 1.0 / std::sqrt(size);
        break;
      case ScaleRule::kInvKeySize:
        s.scale = 1.0 / size;
        break;
      case ScaleRule::kLearned:  // the queries come scaled
        s.scale = 1.0;
        break;
    }
  }
  s.causal = site.causal && site.before == 0;
  s.type = a.type;
  n.site = site;
  n.queries = s.copies * s.score_heads * s.key_size;
  n.keys = s.shared_key ? 0 : n.queries / s.group;
  n.sums = s.copies * s.value_heads * s.value_size;
  n.values = n.sums / s.group;
  n.output_scale = a.combine == Combine::kMean ? 1.0 / static_cast<double>(a.copies) : 1.0;
  s.mixes_scores = a.mix_scores != MixInit::kNone;
  s.mixes_weights = a.mix_weights != MixInit::kNone;
  s.biased = site.distances && (c.positions.type == PositionsType::kAlibi ||
                                c.positions.type == PositionsType::kRelativeBias);
  n.plain = !s.mixes_scores && !s.mixes_weights && s.group == 1 &&
            a.type == AttentionType::kSoftmax && !s.shared_key && !s.biased;
  return n;
}

}  // namespace headroom
