#include "theory/exact_retrieval.h"

#include "theory/formulas.h"

namespace headroom {

void ExactRetrieval::declare(Fields& f) {
  // Square maps of the width: at most 64 MB each.
  f.integer("dim", dim_, {2, 4096}, "Dimension d of a point, and the model's width.");
  f.integer("points", points_, {1, 65536}, "Points of a set.");
  f.choice("points_from", points_from_, kPointsFrom, "Where the points lie.");
  f.choice("query", query_, kRetrievalQueries, "Who asks, and for which point.");
  f.integer("queries", queries_, {1, 65536},
            "Query tokens a sequence, with query = separate alone; null = 16.");
  declare_heads(f);
  // Scores must stay far from the largest float.
  f.real("beta", beta_, {0, 1e30, true},
         "Inverse temperature: what inner products are multiplied by in the softmax.");
  f.integer("seed", seed_, {}, "The config's seed; these parameters are not drawn.");
}

TaskConfig ExactRetrieval::task() const {
  TaskConfig task;
  task.type = TaskType::kNearestNeighbor;
  task.dim = dim_;
  task.points = points_;
  task.points_from = points_from_;
  task.query = query_;
  task.queries = queries_;
  validate(task);
  return task;
}

ModelConfig ExactRetrieval::model() const {
  ModelConfig model;
  model.width = dim_;
  model.norm.type = NormType::kNone;
  model.attention.kind =
      query_ == QueryMode::kSeparate ? AttentionKind::kCross : AttentionKind::kSelf;
  model.attention.scale = 1.0;
  model.ffn.width = 0;
  model.residual = false;
  model.bias = false;
  return model;
}

std::optional<double> ExactRetrieval::expected_loss() const {
  const bool pair =
      query_ == QueryMode::kSeparate && points_ == 2 && points_from_ == PointsFrom::kOrthonormal;
  if (!pair) return std::nullopt;
  return softmax_pair_loss(dim_, beta_);
}

}  // namespace headroom
