// Retrieval of the nearest or farthest point of a set (science A.1; Amsel, Yehudai, Bruna,
// arXiv 2407.16153, whose trained models all answer self_farthest and whose theory is of separate
// queries).
#pragma once

#include "core/view.h"
#include "tasks/task.h"

namespace headroom {

// target_i = the point x_j, j != i, with the smallest (self_farthest) or largest (self_nearest)
// inner product with x_i; on the sphere that is the farthest or nearest one. The earlier of equals;
// a lone point answers itself. x and target (N,d).
void answer_self_queries(QueryMode query, View<const float, 2> x, View<float, 2> target);

// target_p = the point x_j with the largest inner product with query y_p; the earlier of equals.
// x (N,d), y and target (Q,d).
void answer_queries(View<const float, 2> x, View<const float, 2> y, View<float, 2> target);

}  // namespace headroom
