#include "kernels/attention_softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/parallel.h"
#include "kernels/small_matmul.h"
#include "kernels/vector.h"

namespace headroom::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// One worker's buffers, cut from its scratch. Rows are padded to whole vectors; T is the larger of Tq and Tk.
struct Buffers {
  std::size_t tk, kp, vp;  // padded Tk, K, V
  float* keys_t;           // (K, tk)  k^T
  float* values_t;         // (V, tk)  v^T
  float* wide;             // (T, kp) or (T, vp): one of k, q, v, dz by rows
  float* scores;           // (Tq, tk) scores, then weights
  float* dscores;          // (Tq, tk)
  float* out;              // (T, max(kp, vp)) a product before it is copied to its place

  static std::size_t floats(const AttentionShape& s) {
    const std::size_t tk = round_up_to_lanes(s.keys), t = std::max(s.queries, s.keys);
    const std::size_t widest = std::max(round_up_to_lanes(s.key_size), round_up_to_lanes(s.value_size));
    return (s.key_size + s.value_size) * tk + 2 * t * widest + 2 * s.queries * tk;
  }
  Buffers(const AttentionShape& s, float* p)
      : tk(round_up_to_lanes(s.keys)), kp(round_up_to_lanes(s.key_size)), vp(round_up_to_lanes(s.value_size)) {
    const std::size_t t = std::max(s.queries, s.keys), widest = std::max(kp, vp);
    const auto cut = [&](std::size_t n) { return std::exchange(p, p + n); };
    keys_t = cut(s.key_size * tk);
    values_t = cut(s.value_size * tk);
    wide = cut(t * widest);
    scores = cut(s.queries * tk);
    dscores = cut(s.queries * tk);
    out = cut(t * widest);
  }
};

// to (cols, padded) = from^T, zero beyond from.rows.
void transpose_padded(float* to, std::size_t padded, Matrix<const float> from) {
  for (std::size_t c = 0; c < from.cols; ++c) {
    for (std::size_t i = 0; i < from.rows; ++i) to[c * padded + i] = from.row(i)[c];
    std::fill(to + c * padded + from.rows, to + (c + 1) * padded, 0.0f);
  }
}

// to (rows, padded) = from, zero beyond from.cols.
void copy_padded(float* to, std::size_t padded, Matrix<const float> from) {
  for (std::size_t i = 0; i < from.rows; ++i) {
    std::copy_n(from.row(i), from.cols, to + i * padded);
    std::fill(to + i * padded + from.cols, to + (i + 1) * padded, 0.0f);
  }
}

void copy_out(Matrix<float> to, const float* from, std::size_t padded) {
  for (std::size_t i = 0; i < to.rows; ++i) std::copy_n(from + i * padded, to.cols, to.row(i));
}

// Keys that query i sees: 0 .. n-1.
std::size_t visible(const AttentionShape& s, std::size_t i) { return s.causal ? std::min(i + 1, s.keys) : s.keys; }

// row[j] = exp(scale * row[j] - shift) for j < n and 0 up to `padded`.
void exp_row(float* row, std::size_t n, std::size_t padded, float scale, float shift) {
  std::size_t j = 0;
  for (; j + kLanes <= n; j += kLanes) store(row + j, exp(scale * load(row + j) - shift));
  if (j < n) {
    const Vec e = exp(scale * load(row + j) - shift);
    for (std::size_t l = 0; l < kLanes; ++l) row[j + l] = j + l < n ? e[l] : 0.0f;
    j += kLanes;
  }
  std::fill(row + j, row + padded, 0.0f);
}

float max_row(const float* row, std::size_t n) {
  Vec m = broadcast(-kInfinity);
  std::size_t j = 0;
  for (; j + kLanes <= n; j += kLanes) m = max(load(row + j), m);
  if (j < n) m = max(load_part(row + j, n - j, -kInfinity), m);
  return horizontal_max(m);
}

// Rows and columns of one head in one sequence.
Matrix<const float> head(Matrix<const float> all, std::size_t b, std::size_t tokens, std::size_t g, std::size_t size) {
  return all.row_range(b * tokens, tokens).col_range(g * size, size);
}
Matrix<float> head(Matrix<float> all, std::size_t b, std::size_t tokens, std::size_t g, std::size_t size) {
  return all.row_range(b * tokens, tokens).col_range(g * size, size);
}

// Heads a tile: a few when each is tiny, so that a tile outlasts its dispatch.
std::size_t heads_per_tile(const AttentionShape& s) {
  const std::size_t work = s.queries * s.keys * (s.key_size + s.value_size);
  return std::clamp<std::size_t>(65536 / std::max<std::size_t>(1, work), 1, s.heads);
}

// body(b, g, worker's buffers) for every sequence and head.
template <class Body>
void for_each_head(const AttentionShape& s, View<float, 2> scratch, const Body& body) {
  const std::size_t per_tile = heads_per_tile(s), tiles = (s.heads + per_tile - 1) / per_tile;
  parallel_for(s.batch * tiles, [&](std::size_t tile) {
    const Buffers buffers(s, scratch.data + worker() * scratch.dims[1]);
    const std::size_t first = tile % tiles * per_tile;
    for (std::size_t g = first; g < std::min(first + per_tile, s.heads); ++g) body(tile / tiles, g, buffers);
  });
}

}  // namespace

std::size_t attention_scratch(const AttentionShape& shape) { return Buffers::floats(shape); }

void attention_forward(Matrix<float> z, View<float, 3> lse, Matrix<const float> q, Matrix<const float> k,
                       Matrix<const float> v, const AttentionShape& s, View<float, 2> scratch) {
  const float scale = static_cast<float>(s.scale);
  for_each_head(s, scratch, [&](std::size_t b, std::size_t g, const Buffers& buf) {
    const Matrix<const float> qh = head(q, b, s.queries, g, s.key_size);
    transpose_padded(buf.keys_t, buf.tk, head(k, b, s.keys, g, s.key_size));
    copy_padded(buf.wide, buf.vp, head(v, b, s.keys, g, s.value_size));
    small_matmul(buf.scores, buf.tk, {qh.data, qh.stride, 1}, buf.keys_t, buf.tk, s.queries, buf.tk, s.key_size);
    float* row_lse = &lse(b, g, std::size_t{0});
    for (std::size_t i = 0; i < s.queries; ++i) {
      const std::size_t n = visible(s, i);
      float* row = buf.scores + i * buf.tk;
      for (std::size_t j = 0; j < n; ++j) row[j] *= scale;
      const float top = n > 0 ? max_row(row, n) : 0.0f;
      exp_row(row, n, buf.tk, 1.0f, top);
      const float total = sum(row, buf.tk);
      row_lse[i] = n > 0 ? top + std::log(total) : kInfinity;
      const float inv = n > 0 ? 1.0f / total : 0.0f;
      for (std::size_t j = 0; j < buf.tk; ++j) row[j] *= inv;
    }
    small_matmul(buf.out, buf.vp, {buf.scores, buf.tk, 1}, buf.wide, buf.vp, s.queries, buf.vp, s.keys);
    copy_out(head(z, b, s.queries, g, s.value_size), buf.out, buf.vp);
  });
}

void attention_backward(Matrix<float> dq, Matrix<float> dk, Matrix<float> dv, Matrix<const float> dz,
                        Matrix<const float> z, View<const float, 3> lse, Matrix<const float> q,
                        Matrix<const float> k, Matrix<const float> v, const AttentionShape& s,
                        View<float, 2> scratch) {
  const float scale = static_cast<float>(s.scale);
  for_each_head(s, scratch, [&](std::size_t b, std::size_t g, const Buffers& buf) {
    const Matrix<const float> qh = head(q, b, s.queries, g, s.key_size), kh = head(k, b, s.keys, g, s.key_size);
    const Matrix<const float> zh = head(z, b, s.queries, g, s.value_size), dzh = head(dz, b, s.queries, g, s.value_size);
    transpose_padded(buf.keys_t, buf.tk, kh);
    transpose_padded(buf.values_t, buf.tk, head(v, b, s.keys, g, s.value_size));
    // Weights P from the scores, and dP = dz v^T.
    small_matmul(buf.scores, buf.tk, {qh.data, qh.stride, 1}, buf.keys_t, buf.tk, s.queries, buf.tk, s.key_size);
    small_matmul(buf.dscores, buf.tk, {dzh.data, dzh.stride, 1}, buf.values_t, buf.tk, s.queries, buf.tk,
                 s.value_size);
    const float* row_lse = &lse(b, g, std::size_t{0});
    for (std::size_t i = 0; i < s.queries; ++i) {
      float* p = buf.scores + i * buf.tk;
      float* d = buf.dscores + i * buf.tk;
      exp_row(p, visible(s, i), buf.tk, scale, row_lse[i]);
      // dS = P (dP - <dz, z>), the scale included.
      const float mean = dot(dzh.row(i), zh.row(i), s.value_size);
      for (std::size_t j = 0; j < buf.tk; ++j) d[j] = p[j] * (d[j] - mean) * scale;
    }
    copy_padded(buf.wide, buf.vp, dzh);  // dv = P^T dz
    small_matmul(buf.out, buf.vp, {buf.scores, 1, buf.tk}, buf.wide, buf.vp, s.keys, buf.vp, s.queries);
    copy_out(head(dv, b, s.keys, g, s.value_size), buf.out, buf.vp);
    copy_padded(buf.wide, buf.kp, kh);  // dq = dS k
    small_matmul(buf.out, buf.kp, {buf.dscores, buf.tk, 1}, buf.wide, buf.kp, s.queries, buf.kp, s.keys);
    copy_out(head(dq, b, s.queries, g, s.key_size), buf.out, buf.kp);
    copy_padded(buf.wide, buf.kp, qh);  // dk = dS^T q
    small_matmul(buf.out, buf.kp, {buf.dscores, 1, buf.tk}, buf.wide, buf.kp, s.keys, buf.kp, s.queries);
    copy_out(head(dk, b, s.keys, g, s.key_size), buf.out, buf.kp);
  });
}

}  // namespace headroom::kernels
