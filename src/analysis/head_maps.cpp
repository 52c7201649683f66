#include "analysis/head_maps.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"

namespace headroom {

namespace {

// Rows of a map in double, stacked as they come.
class Rows {
 public:
  explicit Rows(std::size_t cols) : cols_(cols) {}
  void add(Matrix<const float> m, double factor = 1) {
    for (std::size_t i = 0; i < m.rows; ++i)
      for (std::size_t j = 0; j < m.cols; ++j) values_.push_back(factor * m(i, j));
  }
  void add_transposed(Matrix<const float> m) {
    for (std::size_t j = 0; j < m.cols; ++j)
      for (std::size_t i = 0; i < m.rows; ++i) values_.push_back(m(i, j));
  }
  Matrix<const double> view() const {
    return {values_.data(), values_.size() / cols_, cols_, cols_};
  }

 private:
  std::size_t cols_;
  std::vector<double> values_;
};

// Where the maps of a head lie among the layer's parameters.
struct Maps {
  const ModelConfig& c;
  const AttentionSizes& n;
  Matrix<const float> qkv, output;

  Maps(const ModelConfig& config, const AttentionRecord<float>& layer)
      : c(config),
        n(layer.sizes),
        qkv(View<const float, 2>(layer.params.qkv)),
        output(View<const float, 2>(layer.params.output)) {}

  // g counts over all copies.
  Matrix<const float> query(std::size_t g) const {
    return qkv.row_range(g * n.shape.key_size, n.shape.key_size);
  }
  Matrix<const float> key(std::size_t g) const {
    return qkv.row_range(n.queries + g / n.shape.group * n.shape.key_size, n.shape.key_size);
  }
  Matrix<const float> value(std::size_t g) const {
    const std::size_t v = n.shape.value_size;
    return qkv.row_range(n.queries + n.keys + g / n.shape.group * v, v);
  }
  Matrix<const float> out(std::size_t g) const {
    return output.col_range(g * n.shape.value_size, n.shape.value_size);
  }

  // With a full score map the key is its input itself: M = W_Q^T.
  Spectrum scores(std::size_t g) const {
    Rows a(c.width), b(c.width);
    a.add(query(g));
    if (n.shape.shared_key) return matrix_spectrum(a.view());
    b.add(key(g));
    return product_spectrum(a.view(), b.view());
  }
  Spectrum mixed_scores(View<const float, 3> mix, std::size_t copy, std::size_t head) const {
    Rows a(c.width), b(c.width);
    if (n.shape.shared_key) {
      std::vector<double> sum(c.width * c.width);
      for (std::size_t k = 0; k < n.shape.score_heads; ++k) {
        const Matrix<const float> map = query(copy * n.shape.score_heads + k);
        for (std::size_t e = 0; e < sum.size(); ++e)
          sum[e] += double{mix(copy, head, k)} * double{map.data[e]};
      }
      return matrix_spectrum({sum.data(), c.width, c.width, c.width});
    }
    for (std::size_t k = 0; k < n.shape.score_heads; ++k) {
      a.add(query(copy * n.shape.score_heads + k), mix(copy, head, k));
      b.add(key(copy * n.shape.score_heads + k));
    }
    return product_spectrum(a.view(), b.view());
  }
  Spectrum values(std::size_t g) const {
    Rows a(c.width), b(c.width);
    b.add(value(g));
    if (c.attention.value_map == HeadMap::kFull) return matrix_spectrum(b.view());
    a.add_transposed(out(g));
    return product_spectrum(a.view(), b.view());
  }
};

// (c,to,from)
std::vector<MixerSpectrum> mixer_spectra(View<const float, 3> mix) {
  std::vector<MixerSpectrum> result;
  for (std::size_t copy = 0; !mix.empty() && copy < mix.dim(0); ++copy) {
    const View<const float, 2> p = mix[copy];
    Rows rows(p.dim(1));
    rows.add(p);
    MixerSpectrum one{matrix_spectrum(rows.view()).singular_values, std::nullopt};
    if (p.dim(0) == p.dim(1)) {
      double square = 0;
      for (std::size_t i = 0; i < p.dim(0); ++i)
        for (std::size_t j = 0; j < p.dim(1); ++j)
          square += std::pow(double{p(i, j)} - (i == j ? 1 : 0), 2);
      one.distance_to_identity = std::sqrt(square / static_cast<double>(p.dim(0)));
    }
    result.push_back(std::move(one));
  }
  return result;
}

}  // namespace

LayerInspection inspect_maps(const ModelConfig& c, const AttentionRecord<float>& record) {
  const AttentionShape& s = record.sizes.shape;
  const View<const float, 3> mix = record.operands.mixers.scores;
  LayerInspection layer{.name = record.name,
                        .copies = s.copies,
                        .score_heads = s.score_heads,
                        .heads = s.heads,
                        .value_heads = s.value_heads,
                        .key_size = s.key_size,
                        .value_size = s.value_size,
                        .width = c.width,
                        .score_rank = std::min(c.width, s.key_size),
                        .rows = {},
                        .cosine = {},
                        .mix_scores = mixer_spectra(mix),
                        .mix_weights = mixer_spectra(record.operands.mixers.weights)};
  if (!mix.empty()) layer.score_rank = std::min(c.width, s.key_size * s.score_heads);
  const std::size_t rows = std::max({s.score_heads, s.heads, s.value_heads});
  layer.rows.resize(s.copies * rows);
  const Maps maps(c, record);
  parallel_for(layer.rows.size(), [&](std::size_t i) {
    HeadInspection& row = layer.rows[i];
    row.copy = i / rows;
    row.head = i % rows;
    if (row.head < s.score_heads) row.qk = maps.scores(row.copy * s.score_heads + row.head);
    if (!mix.empty() && row.head < s.heads)
      row.mixed_qk = maps.mixed_scores(mix, row.copy, row.head);
    if (row.head < s.value_heads) row.ov = maps.values(row.copy * s.value_heads + row.head);
  });
  return layer;
}

}  // namespace headroom
