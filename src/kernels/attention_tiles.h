// How the kernels that run a whole attention layer cut it: tiles of a few whole sequences and a few
// whole heads, whose matrices together fit the second-level cache. The cuts depend on the shapes
// alone.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/attention_shape.h"
#include "kernels/attention_layer.h"
#include "kernels/row_groups.h"

namespace headroom::kernels {

inline constexpr std::size_t kTileRows = 128, kTileColumns = 128;  // about

inline std::size_t total_heads(const AttentionShape& h) { return h.copies * h.heads; }
inline std::size_t tile_sequences(const AttentionShape& h) {
  return std::clamp<std::size_t>(kTileRows / h.queries, 1, h.batch);
}
// Of heads that are `size` columns wide.
inline std::size_t tile_heads(const AttentionShape& h, std::size_t size) {
  return std::clamp<std::size_t>(kTileColumns / size, 1, total_heads(h));
}
// Whose weight gradients are summed together: sequences.
inline RowGroups sequence_groups(const AttentionShape& h) { return {h.batch, tile_sequences(h)}; }

// Whether tiles of the layer stay in cache.
inline bool fits_tiles(const AttentionLayerShape& s) {
  return s.heads.queries <= kTileRows && s.width <= 256;
}

}  // namespace headroom::kernels
