#include "analysis/attention_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parallel.h"

namespace headroom {

namespace {

// A matrix in double, its rows together.
class Doubles {
 public:
  explicit Doubles(Matrix<const float> m) : rows_(m.rows), cols_(m.cols) {
    values_.reserve(m.rows * m.cols);
    for (std::size_t i = 0; i < m.rows; ++i)
      values_.insert(values_.end(), m.row(i), m.row(i) + m.cols);
  }
  Matrix<const double> view() const { return {values_.data(), rows_, cols_, cols_}; }

 private:
  std::size_t rows_, cols_;
  std::vector<double> values_;
};

template <std::size_t N>
View<const double, N> in_double(View<const float, N> view, std::vector<double>& memory) {
  memory.assign(view.data, view.data + (view.empty() ? 0 : view.size()));
  return {memory.data(), view.dims};
}

// Row i of the maps of this sequence and copy, heads `heads` apart from `first`.
void write_row(std::vector<float>& maps, const AttentionShape& s, std::size_t first,
               std::size_t heads, std::size_t i, std::size_t n, const double* rows) {
  for (std::size_t h = 0; h < heads; ++h)
    for (std::size_t j = 0; j < n; ++j)
      maps[((first + h) * s.queries + i) * s.keys + j] = static_cast<float>(rows[h * n + j]);
}

}  // namespace

AttentionObserver::Sums::Sums(std::size_t heads)
    : entropy(heads),
      max_weight(heads),
      logit_variance(heads),
      hits(heads),
      weighed(heads),
      gram(heads * heads) {}

void AttentionObserver::Sums::add(const Sums& other) {
  const auto plus = [](std::vector<double>& to, const std::vector<double>& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  plus(entropy, other.entropy);
  plus(max_weight, other.max_weight);
  plus(logit_variance, other.logit_variance);
  plus(hits, other.hits);
  plus(weighed, other.weighed);
  plus(gram, other.gram);
  queries += other.queries;
  wanted += other.wanted;
}

void AttentionObserver::observe_row(Sums& sums, std::size_t n, const double* logits,
                                    const double* weights, std::size_t wanted) const {
  const double count = static_cast<double>(n);
  sums.queries += 1;
  sums.wanted += wanted == kNoKey ? 0 : 1;
  for (std::size_t h = 0; h < heads_; ++h) {
    const double *l = logits + h * n, *w = weights + h * n;
    double mean = 0, variance = 0, total = 0, largest = 0, entropy = 0;
    std::size_t first = 0;
    for (std::size_t j = 0; j < n; ++j) {
      mean += l[j] / count;
      total += std::abs(w[j]);
      largest = std::max(largest, std::abs(w[j]));
      if (w[j] > w[first]) first = j;
    }
    for (std::size_t j = 0; j < n; ++j) {
      variance += (l[j] - mean) * (l[j] - mean) / count;
      const double p = std::abs(w[j]) / total;
      if (p > 0) entropy -= p * std::log(p);
    }
    sums.logit_variance[h] += variance;
    if (n > 1 && total > 0) {
      sums.weighed[h] += 1;
      sums.entropy[h] += entropy / std::log(count);
      sums.max_weight[h] += largest / total;
    }
    sums.hits[h] += wanted == first ? 1 : 0;
    for (std::size_t g = 0; g <= h; ++g) {
      double product = 0;
      for (std::size_t j = 0; j < n; ++j) product += w[j] * weights[g * n + j];
      sums.gram[h * heads_ + g] += product;
    }
  }
}

void AttentionObserver::add(const AttentionRecord<float>& layer,
                            std::span<const std::size_t> wanted, AttentionMaps* maps) {
  const AttentionShape& s = layer.sizes.shape;
  const std::size_t batch = s.batch, n_mixed = layer.operands.mixers.weights.empty() ? 0 : 1;
  heads_ = s.heads;
  if (copies_.empty()) copies_.assign(s.copies, Sums(s.heads));
  if (maps != nullptr) {
    const std::size_t row = batch * s.copies * s.queries * s.keys;
    maps->weights.assign(row * s.heads, 0.0f);
    maps->mixed.assign(row * s.value_heads * n_mixed, 0.0f);
  }
  const Doubles q(layer.operands.q), k(layer.operands.k);
  std::vector<double> memory[3];
  const AttentionMixers<const double> mixers{in_double(layer.operands.mixers.scores, memory[0]),
                                             in_double(layer.operands.mixers.weights, memory[1]),
                                             in_double(layer.operands.mixers.bias, memory[2])};
  std::vector<Sums> tiles(batch * s.copies, Sums(s.heads));
  parallel_for(tiles.size(), [&](std::size_t tile) {
    const std::size_t b = tile / s.copies, copy = tile % s.copies;
    std::vector<double> scratch(reference::mixed_attention_scratch<double>(s) + s.heads * s.keys);
    reference::for_each_attention_row<double>(
        s, b, copy, q.view(), k.view(), mixers, scratch.data(),
        [&](std::size_t i, std::size_t n, const double* logits, const double* weights,
            const double* mixed) {
          observe_row(tiles[tile], n, logits, weights,
                      wanted.empty() ? kNoKey : wanted[b * s.queries + i]);
          if (maps == nullptr) return;
          write_row(maps->weights, s, tile * s.heads, s.heads, i, n, weights);
          if (n_mixed > 0)
            write_row(maps->mixed, s, tile * s.value_heads, s.value_heads, i, n, mixed);
        });
  });
  for (std::size_t tile = 0; tile < tiles.size(); ++tile) copies_[tile % s.copies].add(tiles[tile]);
}

AttentionStatistics AttentionObserver::result() const {
  AttentionStatistics out;
  const std::size_t h = heads_;
  for (const Sums& s : copies_) {
    const auto cosine = [&](std::size_t a, std::size_t b) {
      const double product = s.gram[std::max(a, b) * h + std::min(a, b)];
      return product / std::sqrt(s.gram[a * h + a] * s.gram[b * h + b]);
    };
    for (std::size_t a = 0; a < h; ++a) {
      HeadAttention head{.entropy = s.entropy[a] / s.weighed[a],
                         .max_weight = s.max_weight[a] / s.weighed[a],
                         .logit_std = std::sqrt(s.logit_variance[a] / s.queries),
                         .hit_rate = std::nullopt,
                         .cosine = std::numeric_limits<double>::quiet_NaN()};
      if (s.wanted > 0) head.hit_rate = s.hits[a] / s.wanted;
      double sum = 0;
      for (std::size_t b = 0; b < h; ++b) {
        out.cosine.push_back(a == b ? 1.0 : cosine(a, b));
        if (a != b) sum += cosine(a, b);
      }
      if (h > 1) head.cosine = sum / static_cast<double>(h - 1);
      out.heads.push_back(head);
    }
  }
  return out;
}

}  // namespace headroom
