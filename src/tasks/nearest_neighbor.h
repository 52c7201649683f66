// Retrieval of the nearest or farthest point of a set (science A.1; Amsel, Yehudai, Bruna,
// arXiv 2407.16153, whose trained models all answer self_farthest and whose theory is of separate
// queries).
#pragma once

#include "core/rng.h"
#include "core/view.h"
#include "tasks/task.h"

namespace headroom {

// Points of a set: config.points, twice as many for antipodal ones.
std::size_t set_size(const TaskConfig& config);

// A set as config.points_from says; antipodal sets hold x_1 .. x_points, then -x_1 .. -x_points.
// x (set_size,d).
void fill_set(Random& random, const TaskConfig& config, View<float, 2> x);

// target_i = the point x_j, j != i, with the smallest (self_farthest) or largest (self_nearest)
// inner product with x_i; on the sphere that is the farthest or nearest one. The earlier of equals;
// a lone point answers itself. x and target (N,d).
void answer_self_queries(QueryMode query, View<const float, 2> x, View<float, 2> target);

// target_p = the point x_j with the largest inner product with query y_p; the earlier of equals.
// x (N,d), y and target (Q,d).
void answer_queries(View<const float, 2> x, View<const float, 2> y, View<float, 2> target);

// target_p = scale (x_i - x_j) with x_i the nearest point to query y_p and x_j the farthest from
// it, the earlier of equals each. Shapes as above.
void answer_differences(View<const float, 2> x, View<const float, 2> y, double scale,
                        View<float, 2> target);

// The scale under which such an answer has a mean square of 1: 1 / sqrt(E ||x_i - x_j||^2) =
// (2 - 2 E[max_k t_k min_k t_k])^(-1/2) for independent uniform points, t_k = <x_k, y>, since what
// is left of two points besides y is independent; 1 / sqrt(2) for orthonormal and 1 / 2 for
// antipodal ones. set_size(config) >= 2.
double difference_scale(const TaskConfig& config);

}  // namespace headroom
