#include "model/control.h"

#include "core/error.h"
#include "model/budget.h"

namespace headroom {
namespace {

std::uint64_t parameters_of(const ModelConfig& config, const ModelIo& io) {
  return model_budget(config, io).parameters;
}

bool within(std::uint64_t original, const Control& control) {
  const std::uint64_t apart =
      control.parameters > original ? control.parameters - original : original - control.parameters;
  return 100 * apart <= kControlPercent * original;
}

}  // namespace

const Control* ControlSearch::match() const {
  if (at_least && within(original, *at_least)) return &*at_least;
  if (below && within(original, *below)) return &*below;
  return nullptr;
}

ModelConfig plain_model(const ModelConfig& config, const ModelIo& io) {
  const ModelConfig resolved = resolve(config, io);
  ModelConfig c = config;
  AttentionConfig& a = c.attention;
  a.mix_scores = a.mix_weights = MixInit::kNone;
  a.score_heads = a.value_heads = a.kv_heads = std::nullopt;
  // A full map has the rank of the width; so do the two factors in its place.
  if (a.score_map == HeadMap::kFull) a.key_size = resolved.attention.key_size;
  if (a.value_map == HeadMap::kFull) a.value_size = resolved.attention.value_size;
  a.score_map = a.value_map = HeadMap::kFactored;
  a.value_init = ValueInit::kDrawn;
  return c;
}

ControlSearch find_control(const ModelConfig& config, const ModelIo& io, ControlBy by) {
  const ModelConfig resolved = resolve(config, io), plain = plain_model(config, io);
  if (by == ControlBy::kFfn && plain.ffn.width == 0)
    throw Error(Exit::kUsage,
                "a control by ffn varies model.ffn.width, and model.ffn.width = 0 is no such "
                "block; take the control by heads");
  const auto control = [&](std::size_t size) {
    Control result{plain, 0};
    ModelConfig& c = result.config;
    if (by == ControlBy::kFfn) {
      c.ffn.width = size;
    } else if (size != resolved.attention.heads) {
      c.attention.heads = size;
      c.attention.key_size = resolved.attention.key_size;
      c.attention.value_size = resolved.attention.value_size;
    }
    result.parameters = parameters_of(c, io);
    return result;
  };

  ControlSearch search;
  search.original = parameters_of(config, io);
  // Sizes below `low` are too small, those from `high` on are not.
  const std::size_t most = by == ControlBy::kHeads ? 65536 : std::size_t{1} << 20;
  std::size_t low = 1, high = most + 1;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (control(middle).parameters >= search.original)
      high = middle;
    else
      low = middle + 1;
  }
  if (low <= most) search.at_least = control(low);
  if (low > 1) search.below = control(low - 1);
  return search;
}

}  // namespace headroom
