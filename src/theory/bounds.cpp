#include "theory/bounds.h"

#include <algorithm>
#include <cmath>

#include "theory/formulas.h"

namespace headroom {

namespace {

constexpr const char* kScope =
    "the nearest of two orthonormal points (nearest_neighbor, points 2, orthonormal) to a separate "
    "query; one layer of softmax or hard cross-attention alone: no residual, norm, FFN or "
    "positions; mixed scores count with rank min(dim, key_size * score_heads)";

constexpr BoundRow kBounds[] = {
    {"theorem_2",
     "for dim >= 5, a rank below dim and an error of at most eps take H >= Omega((dim / r)^(1 / "
     "eps)) heads in the high-dimensional regime and H >= Omega(exp(dim - r log(dim / r))) in the "
     "high-accuracy regime, whatever the weights; the constants are not stated, so no number "
     "follows",
     kScope, "Amsel, Yehudai, Bruna 2025, Theorem 2",
     [](const BoundedLayer& layer) { return layer.dim >= 5 && layer.rank < layer.dim; }},
    {"norm_free_bound",
     "error >= 1/2 sum over odd l of eta_l^2 max(0, 1 - (H D(r,l) + [l = 1]) / N(dim - 1, l)): "
     "harmonics of degree l that H heads of rank r cannot reach; a level that nothing gets below, "
     "no prediction; 0 from rank dim - 1 on",
     kScope, "this project's own derivation, checked numerically, in no paper",
     [](const BoundedLayer&) { return true; }},
};

// log C(n, k).
double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

}  // namespace

std::span<const BoundRow> bound_rows() { return kBounds; }

double pair_lower_bound(std::size_t dim, std::size_t rank, std::size_t heads) {
  if (rank + 1 >= dim) return 0;
  constexpr std::size_t kDegrees = 2001;
  const double d = static_cast<double>(dim - 1), r = static_cast<double>(rank),
               h = static_cast<double>(heads);
  double bound = 0, energy = 0, reached = 1;
  double dimension = 0;  // D(r,l), less its last term
  double log_lambda = std::log(half_sphere_mean(dim - 1));
  for (std::size_t degree = 1; degree <= kDegrees; degree += 2) {
    const double l = static_cast<double>(degree);
    const double log_count = log_harmonics(dim - 1, degree);
    const double eta = std::exp(log_count + 2 * log_lambda);
    if (degree == 1) dimension = std::exp(log_choose(r, r - 1));
    dimension += std::exp(log_choose(l + 2 + r - 1, r - 1));
    reached = std::exp(std::log(h * dimension + (degree == 1 ? 1 : 0)) - log_count);
    bound += eta / 2 * std::max(0.0, 1 - reached);
    energy += eta;
    log_lambda += std::log(l / (l + d));
  }
  // D / N falls with the degree where r < dim - 3; elsewhere the tail counts for nothing.
  if (rank + 4 <= dim) bound += std::max(0.0, 1 - energy) / 2 * std::max(0.0, 1 - reached);
  return bound;
}

std::optional<BoundedLayer> bounded_layer(const TaskConfig& task, const ModelConfig& c) {
  const AttentionConfig& a = c.attention;
  const bool asked = task.type == TaskType::kNearestNeighbor && task.points == 2 &&
                     task.points_from == PointsFrom::kOrthonormal &&
                     task.query == QueryMode::kSeparate;
  const bool alone = c.type == ModelType::kEncoder && c.layers == 1 &&
                     a.kind == AttentionKind::kCross && !c.residual &&
                     c.norm.type == NormType::kNone && c.ffn.width == 0 &&
                     c.positions.type == PositionsType::kNone && c.read_in == ReadIn::kIdentity &&
                     c.read_out == ReadOut::kIdentity;
  const bool sums_to_one = a.type == AttentionType::kSoftmax || a.type == AttentionType::kHard;
  if (!asked || !alone || !sums_to_one) return std::nullopt;
  const std::size_t keys = a.mix_scores == MixInit::kNone ? 1 : *a.score_heads;
  return BoundedLayer{task.dim, std::min(task.dim, *a.key_size * keys), a.copies * a.heads};
}

}  // namespace headroom
