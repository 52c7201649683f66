// What the heads of one attention layer look at, over held-out items.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "model/transformer.h"

namespace headroom {

// The wanted key of a query, or that there is none.
inline constexpr std::size_t kNoKey = static_cast<std::size_t>(-1);

// Means over the queries of all items. Entropy and largest weight are of |w| / sum |w|, for softmax
// w itself, and leave out queries that see one key or have no weight at all.
struct HeadAttention {
  double entropy = 0;     // / log of the number of keys seen: 1 = uniform, 0 = one key
  double max_weight = 0;  // the largest
  double logit_std = 0;   // standard deviation of a query's logits over its keys, root mean square
  std::optional<double> hit_rate;  // share of queries whose largest weight is on the wanted key
  double cosine = 0;  // of its map with those of the copy's other heads, mean; nan if it is alone
};

struct AttentionStatistics {
  std::vector<HeadAttention> heads;  // (c h)
  std::vector<double> cosine;        // (c,h,h) of two heads' maps, over all items
};

// The weights of one forward: (B, c h, Tq, Tk) before mix_weights, (B, c h_v, Tq, Tk) after (empty
// without); masked entries are 0.
struct AttentionMaps {
  std::vector<float> weights, mixed;
};

// Adds up one layer, batch by batch; the sums do not depend on the threads.
class AttentionObserver {
 public:
  // The weights are worked out in double from the layer's own queries and keys, by the reference
  // loops. wanted (B*Tq): the wanted key of each query or kNoKey; empty where keys are not what is
  // wanted. maps, if given, receives the batch's weights.
  void add(const AttentionRecord<float>& layer, std::span<const std::size_t> wanted,
           AttentionMaps* maps = nullptr);

  AttentionStatistics result() const;

 private:
  struct Sums {
    std::vector<double> entropy, max_weight, logit_variance, hits;  // (h)
    std::vector<double> weighed;                                    // (h) queries in the first two
    std::vector<double> gram;                                       // (h,h) <map, map>
    double queries = 0, wanted = 0;
    explicit Sums(std::size_t heads);
    void add(const Sums& other);
  };
  void observe_row(Sums& sums, std::size_t n, const double* logits, const double* weights,
                   std::size_t wanted) const;

  std::size_t heads_ = 0;     // h
  std::vector<Sums> copies_;  // (c)
};

}  // namespace headroom
