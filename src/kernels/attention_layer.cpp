#include "kernels/attention_layer.h"

#include <algorithm>
#include <utility>

#include "core/parallel.h"
#include "core/phases.h"
#include "kernels/attention_merged.h"
#include "kernels/attention_pieces.h"
#include "kernels/attention_softmax.h"
#include "kernels/attention_tiles.h"
#include "kernels/linear.h"
#include "kernels/matmul.h"
#include "kernels/rows.h"

namespace headroom::kernels {
namespace {

std::size_t sum_columns(const AttentionShape& h) { return total_heads(h) * h.value_size; }
std::size_t projected_rows(const AttentionShape& h) {
  return 2 * total_heads(h) * h.key_size + sum_columns(h);
}
std::size_t widest_head(const AttentionShape& h) { return std::max(h.key_size, h.value_size); }

// Queries, keys, values and sums of a tile, or their gradients; packed, so that each is contiguous.
struct Columns {
  Matrix<float> q, k, v, z;
  Columns(float*& p, const AttentionShape& h, std::size_t rows, std::size_t heads) {
    const auto cut = [&](std::size_t size) {
      return Matrix<float>(std::exchange(p, p + rows * heads * size), rows, heads * size,
                           heads * size);
    };
    q = cut(h.key_size);
    k = cut(h.key_size);
    v = cut(h.value_size);
    z = cut(h.value_size);
  }
  static std::size_t floats(const AttentionShape& h) {
    return tile_sequences(h) * h.queries * tile_heads(h, widest_head(h)) * 2 *
           (h.key_size + h.value_size);
  }
};

// Where the rows of a block of heads lie in Wq, Wk, Wv, and its columns in Wo.
struct Block {
  std::size_t first, count;  // heads
  const AttentionShape& h;

  std::size_t key_rows() const { return count * h.key_size; }
  std::size_t value_rows() const { return count * h.value_size; }
  std::size_t query() const { return first * h.key_size; }
  std::size_t key() const { return (total_heads(h) + first) * h.key_size; }
  std::size_t value() const { return 2 * total_heads(h) * h.key_size + first * h.value_size; }
  std::size_t sums() const { return first * h.value_size; }

  // body(rows of Wq, Wk or Wv, their number, the tile's matrix of them)
  template <class Body>
  void for_each_map(const Columns& c, const Body& body) const {
    body(query(), key_rows(), c.q);
    body(key(), key_rows(), c.k);
    body(value(), value_rows(), c.v);
  }
};

// A tile of sequences in one worker's memory.
struct Tile {
  Block block;
  std::size_t sequences;
  float *stats, *scratch;  // (heads, 2, T) of one sequence; one head's
  Columns own, gradient;

  Tile(float* p, const AttentionShape& h, const Block& b, std::size_t n_sequences)
      : block(b),
        sequences(n_sequences),
        stats(std::exchange(p, p + stats_floats(h))),
        scratch(std::exchange(p, p + round_up_to_lanes(attention_scratch(h)))),
        own(p, h, n_sequences * h.queries, b.count),
        gradient(p, h, n_sequences * h.queries, b.count) {}
  static std::size_t floats(const AttentionShape& h) {
    return stats_floats(h) + round_up_to_lanes(attention_scratch(h)) + 2 * Columns::floats(h);
  }
  static std::size_t stats_floats(const AttentionShape& h) {
    return round_up_to_lanes(tile_heads(h, widest_head(h)) * 2 * h.queries);
  }

  // From x (rows of the tile, C).
  template <class Product>
  void project(Matrix<const float> x, const AttentionWeights<const float>& w,
               const Product& product) const {
    block.for_each_map(own, [&](std::size_t row, std::size_t count, Matrix<float> to) {
      product(to, x, Transpose::kNo, w.qkv.range(row, count), Transpose::kYes, 1.0f, 0.0f);
      if (w.qkv_bias.dims[0] > 0) add_row(to, w.qkv_bias.data + row);
    });
  }
  // The heads' sums.
  void attend() const {
    const PhaseScope scope(Phase::kAttention);
    for (std::size_t b = 0; b < sequences; ++b)
      attend_forward(part(own.z, b), stats, part(own.q, b), part(own.k, b), part(own.v, b), block.h,
                     scratch);
  }
  // The sums again, and gradient.z to gradient.q, k, v.
  void attend_and_differentiate() const {
    const PhaseScope scope(Phase::kAttention);
    for (std::size_t b = 0; b < sequences; ++b)
      attend_both(part(own.z, b), part(gradient.q, b), part(gradient.k, b), part(gradient.v, b),
                  stats, part(gradient.z, b), part(own.q, b), part(own.k, b), part(own.v, b),
                  block.h, scratch);
  }

 private:
  Matrix<float> part(Matrix<float> m, std::size_t sequence) const {
    return m.row_range(sequence * block.h.queries, block.h.queries);
  }
};

// body(block of heads), in order.
template <class Body>
void for_each_block(const AttentionShape& h, const Body& body) {
  for (std::size_t first = 0; first < total_heads(h); first += tile_heads(h, widest_head(h)))
    body(Block{first, std::min(tile_heads(h, widest_head(h)), total_heads(h) - first), h});
}

// One group's share of the weight gradients.
struct Share {
  View<float, 2> qkv, output;
  float* qkv_bias;
  Share(float* p, const AttentionLayerShape& s)
      : qkv(p, {projected_rows(s.heads), s.width}),
        output(p + qkv.size(), {s.width, sum_columns(s.heads)}),
        qkv_bias(output.data + output.size()) {}
  static std::size_t floats(const AttentionLayerShape& s) {
    const std::size_t projected = projected_rows(s.heads);
    return round_up_to_lanes((projected + sum_columns(s.heads)) * s.width + projected);
  }
};

}  // namespace

bool fused_attention_pays(const AttentionLayerShape& s) {
  const std::size_t columns = projected_rows(s.heads) + sum_columns(s.heads);
  return merged_attention_pays(s) || (columns >= kManyColumns * s.width && fits_tiles(s));
}

std::size_t fused_attention_maps(const AttentionLayerShape& s) {
  return merged_attention_pays(s) ? merged_attention_maps(s) : 0;
}

std::size_t fused_attention_scratch(const AttentionLayerShape& s) {
  return merged_attention_pays(s) ? merged_attention_scratch(s) : Tile::floats(s.heads);
}

std::size_t fused_attention_partials(const AttentionLayerShape& s) {
  if (merged_attention_pays(s)) return merged_attention_partials(s);
  return sequence_groups(s.heads).groups() * Share::floats(s);
}

void fused_attention_forward(View<float, 2> y, View<const float, 2> x,
                             const AttentionWeights<const float>& w, const AttentionLayerShape& s,
                             View<float, 1> maps, View<float, 2> workers) {
  if (merged_attention_pays(s)) return merged_attention_forward(y, x, w, s, maps, workers);
  const AttentionShape& h = s.heads;
  const float scale = static_cast<float>(s.output_scale);
  parallel_rows(h.batch, tile_sequences(h), [&](std::size_t first, std::size_t count) {
    const std::size_t row = first * h.queries, rows = count * h.queries;
    const Matrix<float> out = y.range(row, rows);
    for_each_block(h, [&](const Block& block) {
      const Tile tile(workers[worker()].data, h, block, count);
      tile.project(x.range(row, rows), w, matmul);
      tile.attend();
      matmul(out, tile.own.z, Transpose::kNo,
             Matrix<const float>(w.output).col_range(block.sums(), block.value_rows()),
             Transpose::kYes, scale, block.first == 0 ? 0.0f : 1.0f);
    });
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t m = 0; m < w.output_bias.dims[0]; ++m)
        for (std::size_t c = 0; c < s.width; ++c)
          out.data[i * s.width + c] += scale * w.output_bias.data[m * s.width + c];
  });
}

void fused_attention_backward(View<float, 2> dx, const AttentionWeights<float>& dw,
                              View<const float, 2> dy, View<const float, 2> x,
                              const AttentionWeights<const float>& w, const AttentionLayerShape& s,
                              View<float, 1> maps, View<float, 1> partials,
                              View<float, 2> workers) {
  if (merged_attention_pays(s))
    return merged_attention_backward(dx, dw, dy, x, w, s, maps, partials, workers);
  const AttentionShape& h = s.heads;
  const float scale = static_cast<float>(s.output_scale);
  const RowGroups groups = sequence_groups(h);
  const std::size_t share_size = Share::floats(s);
  parallel_rows(h.batch, groups.size, [&](std::size_t group_first, std::size_t group_count) {
    const Share share(partials.data + group_first / groups.size * share_size, s);
    for_each_block(h, [&](const Block& block) {
      for (std::size_t at = 0; at < group_count; at += tile_sequences(h)) {
        const std::size_t count = std::min(tile_sequences(h), group_count - at),
                          row = (group_first + at) * h.queries, rows = count * h.queries;
        const float more_rows = at == 0 ? 0.0f : 1.0f;
        const Matrix<const float> in = x.range(row, rows), dout = dy.range(row, rows);
        const Tile tile(workers[worker()].data, h, block, count);
        const Matrix<const float> output =
            Matrix<const float>(w.output).col_range(block.sums(), block.value_rows());
        tile.project(in, w, matmul_unrecorded);
        matmul(tile.gradient.z, dout, Transpose::kNo, output, Transpose::kNo, scale, 0.0f);
        tile.attend_and_differentiate();
        matmul(Matrix<float>(share.output).col_range(block.sums(), block.value_rows()), dout,
               Transpose::kYes, tile.own.z, Transpose::kNo, scale, more_rows);
        float more_maps = block.first == 0 ? 0.0f : 1.0f;
        block.for_each_map(
            tile.gradient, [&](std::size_t map_row, std::size_t map_rows, Matrix<float> d) {
              matmul(share.qkv.range(map_row, map_rows), d, Transpose::kYes, in, Transpose::kNo,
                     1.0f, more_rows);
              column_sums(share.qkv_bias + map_row, d, at > 0);
              matmul(dx.range(row, rows), d, Transpose::kNo, w.qkv.range(map_row, map_rows),
                     Transpose::kNo, 1.0f, more_maps);
              more_maps = 1.0f;
            });
      }
    });
  });
  const Share front(partials.data, s);
  add_shares(dw.qkv.data, dw.qkv.size(), front.qkv.data, groups.groups(), share_size);
  add_shares(dw.output.data, dw.output.size(), front.output.data, groups.groups(), share_size);
  if (dw.qkv_bias.dims[0] > 0)
    add_shares(dw.qkv_bias.data, dw.qkv_bias.size(), front.qkv_bias, groups.groups(), share_size);
  bias_backward(dw.output_bias, dy, s.output_scale);
}

}  // namespace headroom::kernels
