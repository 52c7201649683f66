// What constructions share that choose between two orthonormal points for queries of their own.
#pragma once

#include <Eigen/Core>
#include <algorithm>

#include "core/rng.h"
#include "theory/construction.h"
#include "theory/makers.h"

namespace headroom {

class PairConstruction : public Construction {
 public:
  TaskConfig task() const override {
    TaskConfig task;
    task.type = TaskType::kNearestNeighbor;
    task.dim = dim_;
    task.points = 2;
    task.points_from = PointsFrom::kOrthonormal;
    task.query = QueryMode::kSeparate;
    task.queries = queries_;
    validate(task);
    return task;
  }
  std::uint64_t seed() const override { return seed_; }

 protected:
  void declare_queries(Fields& f) {
    f.integer("queries", queries_, {1, 65536}, "Query tokens a sequence; null = 16.");
  }
  void declare_seed(Fields& f) {
    f.integer("seed", seed_, {}, "The config's seed, from which the directions are drawn.");
  }

  std::size_t dim_ = 64, heads_ = 256;
  std::optional<std::size_t> queries_;
  std::uint64_t seed_ = 0;
};

// Uniform on the unit sphere.
inline Eigen::VectorXd random_direction(Random& random, std::size_t dim) {
  Eigen::VectorXd u(static_cast<Eigen::Index>(dim));
  do
    for (double& x : u) x = random.normal();
  while (!(u.squaredNorm() > 0));
  return u.normalized();
}

}  // namespace headroom
