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
  if (!c.positions.length) c.positions.length = io.tokens;
  if (c.positions.type != PositionsType::kNone && *c.positions.length < io.tokens)
    fail("model.positions.length = " + text(*c.positions.length) +
         " is shorter than the task's sequences of " + text(io.tokens) + " tokens");
  return c;
}

AttentionSizes attention_sizes(const ModelConfig& c, std::size_t batch, std::size_t tokens) {
  const AttentionConfig& a = c.attention;
  AttentionSizes n;
  n.shape = {batch,
             tokens,
             tokens,
             a.copies * a.heads,
             *a.key_size,
             *a.value_size,
             1.0 / std::sqrt(static_cast<double>(*a.key_size)),
             a.mask == Mask::kCausal};
  n.queries = n.shape.heads * n.shape.key_size;
  n.values = n.shape.heads * n.shape.value_size;
  n.output_scale = a.combine == Combine::kMean ? 1.0 / static_cast<double>(a.copies) : 1.0;
  return n;
}

}  // namespace headroom
