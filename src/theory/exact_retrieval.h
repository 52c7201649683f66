// What the constructions share whose scores are +-beta <query, point> and whose values are the
// points themselves: at large beta they return the nearest or farthest point of a set.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "theory/construction.h"

namespace headroom {

// Not self_nearest: the point itself is among the keys and nearest to itself.
inline constexpr std::array kRetrievalQueries{kQueryModes[0], kQueryModes[2]};
static_assert(kRetrievalQueries[0].value == QueryMode::kSelfFarthest &&
              kRetrievalQueries[1].value == QueryMode::kSeparate);

class ExactRetrieval : public Construction {
 public:
  void declare(Fields& f) override;
  TaskConfig task() const override;
  // One layer of nothing but attention, its scores unscaled; the heads are left to the
  // construction.
  ModelConfig model() const override;
  std::uint64_t seed() const override { return seed_; }
  std::optional<double> expected_loss() const override;

 protected:
  virtual void declare_heads(Fields&) {}

  // The farthest point has the smallest inner product.
  double sign() const { return query_ == QueryMode::kSelfFarthest ? -1 : 1; }

  std::size_t dim_ = 64, points_ = 16;
  PointsFrom points_from_ = PointsFrom::kSphere;
  QueryMode query_ = QueryMode::kSelfFarthest;
  std::optional<std::size_t> queries_;
  double beta_ = 400;
  std::uint64_t seed_ = 0;
};

}  // namespace headroom
