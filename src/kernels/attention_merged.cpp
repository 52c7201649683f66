#include "kernels/attention_merged.h"

#include <algorithm>
#include <utility>

#include "core/parallel.h"
#include "core/phases.h"
#include "kernels/attention_softmax.h"
#include "kernels/attention_tiles.h"
#include "kernels/linear.h"
#include "kernels/matmul.h"
#include "kernels/rows.h"

namespace headroom::kernels {
namespace {

// One head as the attention kernel sees it: keys and values are tokens.
AttentionShape one_head(const AttentionLayerShape& s) {
  AttentionShape h = s.heads;
  h.copies = h.score_heads = h.heads = h.value_heads = 1;
  h.key_size = h.value_size = s.width;
  return h;
}

// The rows of head g's maps in what a layer's weights are, or their gradients.
template <class T>
struct Head {
  Matrix<T> q, k, v, o;  // (K,C), (K,C), (V,C), (C,V)
  T *q_bias, *v_bias;    // (K), (V), or nullptr

  Head(const AttentionWeights<T>& w, const AttentionLayerShape& s, std::size_t g) {
    const std::size_t n = total_heads(s.heads), key = s.heads.key_size, value = s.heads.value_size;
    q = w.qkv.range(g * key, key);
    k = w.qkv.range((n + g) * key, key);
    v = w.qkv.range(2 * n * key + g * value, value);
    o = Matrix<T>(w.output).col_range(g * value, value);
    const bool biased = w.qkv_bias.dims[0] > 0;
    q_bias = biased ? w.qkv_bias.data + g * key : nullptr;
    v_bias = biased ? w.qkv_bias.data + 2 * n * key + g * value : nullptr;
  }
};

// The merged maps of all heads, or their gradients.
struct Maps {
  View<float, 2> query;   // (G C, C): W_K^T W_Q
  View<float, 1> bias;    // (G C): W_K^T b_Q
  View<float, 2> output;  // (C, G C): W_O W_V
  View<float, 1> row;     // (C): what every row of y gets, without the output's scale

  Maps(float* p, const AttentionLayerShape& s) {
    const std::size_t n = total_heads(s.heads) * s.width, c = s.width;
    query = {std::exchange(p, p + n * c), {n, c}};
    output = {std::exchange(p, p + n * c), {c, n}};
    bias = {std::exchange(p, p + n), {n}};
    row = {p, {c}};
  }
  static std::size_t floats(const AttentionLayerShape& s) {
    const std::size_t n = total_heads(s.heads) * s.width;
    return round_up_to_lanes(2 * n * s.width + n + s.width);
  }
  Matrix<float> output_of(std::size_t first, std::size_t count, std::size_t c) const {
    return Matrix<float>(output).col_range(first * c, count * c);
  }
};

// to (n) = a^T b for a (m,n), or a b for a (n,m): a bias through a map.
void map_bias(float* to, Matrix<const float> a, Transpose transposed, const float* b, float more) {
  const bool t = transposed == Transpose::kYes;
  for (std::size_t i = 0; i < (t ? a.cols : a.rows); ++i) {
    float sum = 0;
    for (std::size_t j = 0; j < (t ? a.rows : a.cols); ++j) sum += (t ? a(j, i) : a(i, j)) * b[j];
    to[i] = more * to[i] + sum;
  }
}

void merge(const Maps& to, const AttentionWeights<const float>& w, const AttentionLayerShape& s) {
  const std::size_t c = s.width;
  parallel_for(total_heads(s.heads), [&](std::size_t g) {
    const Head<const float> head(w, s, g);
    matmul_float32(to.query.range(g * c, c), head.k, Transpose::kYes, head.q, Transpose::kNo, 1.0f,
                   0.0f);
    matmul_float32(to.output_of(g, 1, c), head.o, Transpose::kNo, head.v, Transpose::kNo, 1.0f,
                   0.0f);
    if (head.q_bias != nullptr)
      map_bias(&to.bias(g * c), head.k, Transpose::kYes, head.q_bias, 0.0f);
  });
  std::fill_n(to.row.data, c, 0.0f);
  for (std::size_t m = 0; m < w.output_bias.dims[0]; ++m)
    for (std::size_t i = 0; i < c; ++i) to.row(i) += w.output_bias(m, i);
  for (std::size_t g = 0; w.qkv_bias.dims[0] > 0 && g < total_heads(s.heads); ++g) {
    const Head<const float> head(w, s, g);
    map_bias(to.row.data, head.o, Transpose::kNo, head.v_bias, 1.0f);
  }
}

// A tile of sequences and heads in one worker's memory.
struct Tile {
  const AttentionLayerShape& s;
  AttentionShape head_shape;
  std::size_t first, count, sequences;  // heads
  float *stats, *scratch;               // (2, T) of one head; its own
  Matrix<float> q, z, dq, dz, dtokens;  // (rows, heads C); the last of one sequence and head

  Tile(float* p, const AttentionLayerShape& shape, std::size_t first_head, std::size_t sequences_in)
      : s(shape),
        head_shape(one_head(shape)),
        first(first_head),
        count(
            std::min(tile_heads(shape.heads, shape.width), total_heads(shape.heads) - first_head)),
        sequences(sequences_in) {
    const auto cut = [&](std::size_t n) { return std::exchange(p, p + round_up_to_lanes(n)); };
    const std::size_t t = s.heads.queries, cols = count * s.width;
    stats = cut(2 * t);
    scratch = cut(attention_scratch(head_shape));
    for (Matrix<float>* m : {&q, &z, &dq, &dz}) {
      const std::size_t rows = sequences * t;
      *m = Matrix<float>(cut(rows * cols), rows, cols, cols);
    }
    dtokens = Matrix<float>(cut(2 * t * s.width), 2 * t, s.width, s.width);
  }
  static std::size_t floats(const AttentionLayerShape& s) {
    const std::size_t heads = tile_heads(s.heads, s.width), sequences = tile_sequences(s.heads),
                      t = s.heads.queries;
    return round_up_to_lanes(2 * t) + round_up_to_lanes(attention_scratch(one_head(s))) +
           4 * round_up_to_lanes(sequences * t * heads * s.width) +
           round_up_to_lanes(2 * t * s.width);
  }

  // body(sequence, head of the tile)
  template <class Body>
  void for_each_head(const Body& body) const {
    const PhaseScope scope(Phase::kAttention);
    for (std::size_t b = 0; b < sequences; ++b)
      for (std::size_t g = 0; g < count; ++g) body(b, g);
  }
  template <class T>
  Matrix<T> tokens(Matrix<T> m, std::size_t sequence) const {
    return m.row_range(sequence * s.heads.queries, s.heads.queries);
  }
  Matrix<float> part(Matrix<float> m, std::size_t sequence, std::size_t g) const {
    return tokens(m, sequence).col_range(g * s.width, s.width);
  }

  // Queries from x, the tile's rows.
  template <class Product>
  void project(Matrix<const float> x, const Maps& maps, bool biased, const Product& product) const {
    product(q, x, Transpose::kNo, maps.query.range(first * s.width, q.cols), Transpose::kYes, 1.0f,
            0.0f);
    if (biased) add_row(q, &maps.bias(first * s.width));
  }
  // The heads' sums.
  void attend(Matrix<const float> x) const {
    for_each_head([&](std::size_t b, std::size_t g) {
      const Matrix<const float> read = tokens(x, b);
      attend_forward(part(z, b, g), stats, part(q, b, g), read, read, head_shape, scratch);
    });
  }
  // The sums again, dz to dq, and what the tokens get as keys and values onto dx.
  void attend_and_differentiate(Matrix<float> dx, Matrix<const float> x) const {
    const std::size_t t = s.heads.queries;
    for_each_head([&](std::size_t b, std::size_t g) {
      const Matrix<const float> read = tokens(x, b);
      const Matrix<float> as_key = dtokens.row_range(0, t), as_value = dtokens.row_range(t, t);
      attend_both(part(z, b, g), part(dq, b, g), as_key, as_value, stats, part(dz, b, g),
                  part(q, b, g), read, read, head_shape, scratch);
      const Matrix<float> to = tokens(dx, b);
      for (std::size_t i = 0; i < t; ++i)
        for (std::size_t c = 0; c < s.width; ++c)
          to.data[i * to.stride + c] += as_key.row(i)[c] + as_value.row(i)[c];
    });
  }
};

// The gradients of the weights of head g from those of its merged maps, d; drow (C) is the gradient
// of Maps::row.
void split(const AttentionWeights<float>& dw, const Maps& d, const float* drow,
           const AttentionWeights<const float>& w, const AttentionLayerShape& s, std::size_t g) {
  const std::size_t c = s.width;
  const Head<const float> head(w, s, g);
  const Head<float> dhead(dw, s, g);
  const Matrix<const float> dquery = d.query.range(g * c, c), doutput = d.output_of(g, 1, c);
  using enum Transpose;
  matmul_float32(dhead.q, head.k, kNo, dquery, kNo, 1.0f, 1.0f);
  matmul_float32(dhead.k, head.q, kNo, dquery, kYes, 1.0f, 1.0f);
  matmul_float32(dhead.o, doutput, kNo, head.v, kYes, 1.0f, 1.0f);
  matmul_float32(dhead.v, head.o, kYes, doutput, kNo, 1.0f, 1.0f);
  if (head.q_bias == nullptr) return;
  const float* dbias = &d.bias(g * c);
  map_bias(dhead.q_bias, head.k, kNo, dbias, 1.0f);
  map_bias(dhead.v_bias, head.o, kYes, drow, 1.0f);
  for (std::size_t r = 0; r < head.k.rows; ++r)
    for (std::size_t i = 0; i < c; ++i) dhead.k.row(r)[i] += head.q_bias[r] * dbias[i];
  for (std::size_t i = 0; i < c; ++i)
    for (std::size_t r = 0; r < head.o.cols; ++r) dhead.o.row(i)[r] += drow[i] * head.v_bias[r];
}

}  // namespace

bool merged_attention_pays(const AttentionLayerShape& s) {  // by measurement
  const bool many = 4 * total_heads(s.heads) >= kManyColumns;
  return s.heads.key_size >= s.width && s.heads.value_size >= s.width && (many || s.width >= 32) &&
         fits_tiles(s);
}

std::size_t merged_attention_maps(const AttentionLayerShape& s) { return Maps::floats(s); }

std::size_t merged_attention_scratch(const AttentionLayerShape& s) { return Tile::floats(s); }

std::size_t merged_attention_partials(const AttentionLayerShape& s) {
  return (1 + sequence_groups(s.heads).groups()) * Maps::floats(s);  // the first is their sum
}

void merged_attention_forward(View<float, 2> y, View<const float, 2> x,
                              const AttentionWeights<const float>& w, const AttentionLayerShape& s,
                              View<float, 1> memory, View<float, 2> workers) {
  const AttentionShape& h = s.heads;
  const Maps maps(memory.data, s);
  merge(maps, w, s);
  const float scale = static_cast<float>(s.output_scale);
  for (std::size_t c = 0; c < s.width; ++c) maps.row(c) *= scale;
  parallel_rows(h.batch, tile_sequences(s.heads), [&](std::size_t begin, std::size_t count) {
    const std::size_t row = begin * h.queries, rows = count * h.queries;
    const Matrix<float> out = y.range(row, rows);
    for (std::size_t g = 0; g < total_heads(s.heads); g += tile_heads(s.heads, s.width)) {
      const Tile tile(workers[worker()].data, s, g, count);
      tile.project(x.range(row, rows), maps, w.qkv_bias.dims[0] > 0, matmul);
      tile.attend(x.range(row, rows));
      matmul(out, tile.z, Transpose::kNo, maps.output_of(g, tile.count, s.width), Transpose::kYes,
             scale, g == 0 ? 0.0f : 1.0f);
    }
    add_row(out, maps.row.data);
  });
}

void merged_attention_backward(View<float, 2> dx, const AttentionWeights<float>& dw,
                               View<const float, 2> dy, View<const float, 2> x,
                               const AttentionWeights<const float>& w, const AttentionLayerShape& s,
                               View<float, 1> memory, View<float, 1> partials,
                               View<float, 2> workers) {
  const AttentionShape& h = s.heads;
  const Maps maps(memory.data, s);
  merge(maps, w, s);
  const bool biased = w.qkv_bias.dims[0] > 0;
  const float scale = static_cast<float>(s.output_scale);
  const RowGroups groups = sequence_groups(s.heads);
  const std::size_t share_size = Maps::floats(s);
  float* const shares = partials.data + share_size;
  parallel_rows(h.batch, groups.size, [&](std::size_t group_first, std::size_t group_count) {
    const Maps share(shares + group_first / groups.size * share_size, s);
    for (std::size_t g = 0; g < total_heads(s.heads); g += tile_heads(s.heads, s.width)) {
      for (std::size_t at = 0; at < group_count; at += tile_sequences(s.heads)) {
        const std::size_t count = std::min(tile_sequences(s.heads), group_count - at),
                          row = (group_first + at) * h.queries, rows = count * h.queries;
        const float more = at == 0 ? 0.0f : 1.0f;
        const Matrix<const float> in = x.range(row, rows), dout = dy.range(row, rows);
        const Matrix<float> din = dx.range(row, rows);
        const Tile tile(workers[worker()].data, s, g, count);
        const Matrix<float> output = maps.output_of(g, tile.count, s.width);
        const View<float, 2> query = maps.query.range(g * s.width, tile.q.cols);
        tile.project(in, maps, biased, matmul_unrecorded);
        matmul(tile.dz, dout, Transpose::kNo, output, Transpose::kNo, scale, 0.0f);
        if (g == 0)
          for (std::size_t i = 0; i < rows; ++i) std::fill_n(din.row(i), s.width, 0.0f);
        tile.attend_and_differentiate(din, in);
        matmul(share.output_of(g, tile.count, s.width), dout, Transpose::kYes, tile.z,
               Transpose::kNo, scale, more);
        matmul(share.query.range(g * s.width, tile.q.cols), tile.dq, Transpose::kYes, in,
               Transpose::kNo, 1.0f, more);
        column_sums(&share.bias(g * s.width), tile.dq, at > 0);
        matmul(din, tile.dq, Transpose::kNo, query, Transpose::kNo, 1.0f, 1.0f);
        if (g == 0) column_sums(share.row.data, dout, at > 0);
      }
    }
  });
  const Maps sum(partials.data, s);
  std::fill_n(partials.data, share_size, 0.0f);
  add_shares(partials.data, share_size, shares, groups.groups(), share_size);
  for (std::size_t c = 0; c < s.width; ++c) sum.row(c) *= scale;
  parallel_for(total_heads(s.heads), [&](std::size_t g) { split(dw, sum, sum.row.data, w, s, g); });
  bias_backward(dw.output_bias, dy, s.output_scale);
}

}  // namespace headroom::kernels
