// The sum over the points x_i of a set of sin(a <x_i, y>), divided by the root of their number:
// what a query y asks of them. With one point sin(a <x, y>), a function of the pair that neither
// side tells anything about.
#pragma once

#include <cstddef>

#include "core/view.h"

namespace headroom {

// target_p = sum_i sin(a <x_i, y_p>) / sqrt(N). x (N,d), y (Q,d), target (Q,1).
void answer_inner_products(double a, View<const float, 2> x, View<const float, 2> y,
                           View<float, 2> target);

// E cos(a <x, y>) of independent uniform x, y on the unit sphere in `dim` >= 2 dimensions:
// 0F1(; dim/2; -a^2/4), within 1e-7.
double mean_cosine(std::size_t dim, double a);

}  // namespace headroom
