#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "model/attention.h"
#include "model/model.h"

namespace headroom {
namespace {

[[noreturn]] void fail(const std::string& message) { throw Error(Exit::kUsage, message); }
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
    fail("model.attention.heads = " + text(heads) + " does not divide model.width = " +
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
    if (mix == MixInit::kNone) fail(what + ", which needs " + key);
    if (mix == MixInit::kIdentity)
      fail(what + ": " + key + " = identity needs equal numbers; fan_in does not");
  };
  differs(a.score_heads, a.mix_scores, "score_heads", "mix_scores");
  differs(a.value_heads, a.mix_weights, "value_heads", "mix_weights");
  if (!a.kv_heads) a.kv_heads = a.heads;
  if (*a.kv_heads == a.heads) return;
  if (a.heads % *a.kv_heads != 0)
    fail("model.attention.kv_heads = " + text(*a.kv_heads) +
         " does not divide model.attention.heads = " + text(a.heads) +
         ": counts that do: " + divisors(a.heads));
  if (*a.score_heads != a.heads || *a.value_heads != a.heads)
    fail("model.attention.kv_heads = " + text(*a.kv_heads) +
         " does not go with score_heads or value_heads of another number than heads = " +
         text(a.heads));
}

}  // namespace

ModelConfig resolve(ModelConfig c, const ModelIo& io) {
  if (!c.read_in) c.read_in = c.width == io.input_dim ? ReadIn::kIdentity : ReadIn::kLinear;
  if (c.read_in == ReadIn::kIdentity && c.width != io.input_dim)
    fail("model.read_in = identity needs model.width = the size of the task's tokens: " +
         text(c.width) + " and " + text(io.input_dim) + " differ");
  if (!c.read_out) {
    // Where the tokens are read in as they are, the answer is read off the same coordinates.
    const bool same_space = c.read_in == ReadIn::kIdentity && io.output_dim == io.input_dim;
    c.read_out = !same_space                ? ReadOut::kLinear
                 : c.width == io.output_dim ? ReadOut::kIdentity
                                            : ReadOut::kSlice;
  }
  if (c.read_out == ReadOut::kIdentity && c.width != io.output_dim)
    fail("model.read_out = identity needs model.width = the size of the task's answers: " +
         text(c.width) + " and " + text(io.output_dim) + " differ");
  if (c.read_out == ReadOut::kSlice && c.width < io.output_dim)
    fail("model.read_out = slice needs model.width >= the size of the task's answers: " +
         text(c.width) + " < " + text(io.output_dim));
  if (!c.norm.eps) c.norm.eps = c.norm.type == NormType::kLayerNorm ? 1e-5 : 0.0;
  if (!c.norm.final_norm)
    c.norm.final_norm = c.norm.placement == NormPlacement::kPre && c.norm.type != NormType::kNone;
  c.attention.key_size = derived_size(c, c.attention.key_size, "key_size");
  c.attention.value_size = derived_size(c, c.attention.value_size, "value_size");
  resolve_heads(c.attention);
  if (!c.positions.length) c.positions.length = io.tokens;
  if (c.positions.type != PositionsType::kNone && *c.positions.length < io.tokens)
    fail("model.positions.length = " + text(*c.positions.length) +
         " is shorter than the task's sequences of " + text(io.tokens) + " tokens");
  return c;
}

AttentionSizes attention_sizes(const ModelConfig& c, std::size_t batch, std::size_t tokens) {
  const AttentionConfig& a = c.attention;
  AttentionSizes n;
  AttentionShape& s = n.shape;
  s.batch = batch;
  s.queries = s.keys = tokens;
  s.copies = a.copies;
  s.score_heads = *a.score_heads;
  s.heads = a.heads;
  s.value_heads = *a.value_heads;
  s.group = a.heads / *a.kv_heads;
  s.key_size = *a.key_size;
  s.value_size = *a.value_size;
  s.scale = 1.0 / std::sqrt(static_cast<double>(*a.key_size));
  s.causal = a.mask == Mask::kCausal;
  s.type = a.type;
  n.queries = s.copies * s.score_heads * s.key_size;
  n.keys = n.queries / s.group;
  n.sums = s.copies * s.value_heads * s.value_size;
  n.values = n.sums / s.group;
  n.output_scale = a.combine == Combine::kMean ? 1.0 / static_cast<double>(a.copies) : 1.0;
  n.plain = a.mix_scores == MixInit::kNone && a.mix_weights == MixInit::kNone && s.group == 1 &&
            a.type == AttentionType::kSoftmax;
  return n;
}

}  // namespace headroom
