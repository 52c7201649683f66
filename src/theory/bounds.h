// What no attention layer of a given rank can get below, and to which models that applies.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "model/model_config.h"
#include "tasks/task_config.h"

namespace headroom {

// A lower bound of E ||f - A||^2 for one generalised attention layer of `heads` heads of rank
// `rank` between two orthonormal points in `dim` dimensions, the query uniform, separate and not
// among the keys; any weights W, any M_h. This project's own (science A.8), not in any paper:
//   1/2 sum over odd l of eta_l^2 max(0, 1 - (H D(r,l) + [l = 1]) / N(dim - 1, l)),
// eta_l^2 the energy of sign<w,y> in degree l on the sphere in dim - 1 dimensions, N the number of
// its harmonics, D(r,l) = sum of C(j + r - 1, r - 1) over j = l + 2, l, l - 2, ... >= 1. 0 from
// rank dim - 1 on. The series is cut late, and of its tail only what is certain is counted.
double pair_lower_bound(std::size_t dim, std::size_t rank, std::size_t heads);

// The heads and the rank of a score that the bounds see in a model: a layer's softmaxes over all
// copies, and min(width, key_size * score_heads) where scores are mixed.
struct BoundedLayer {
  std::size_t dim = 0, rank = 0, heads = 0;
};
// Where the bounds apply: the task is the nearest of two orthonormal points to a separate query and
// the model one layer of softmax or hard cross-attention alone, on the points as they are: no
// residual, norm, FFN or positions. config is resolved.
std::optional<BoundedLayer> bounded_layer(const TaskConfig& task, const ModelConfig& config);

// The table of bounds (bounds.cpp), for `describe bounds`.
struct BoundRow {
  const char* name;
  const char* statement;
  const char* scope;
  const char* source;
  bool (*says)(const BoundedLayer& layer);  // whether it says anything of this one
};
std::span<const BoundRow> bound_rows();

}  // namespace headroom
