// What theory says about losses.
#pragma once

#include <cstddef>

namespace headroom {

// The density at 0 of a coordinate of a uniform point on the unit sphere in dim >= 2 dimensions:
// Gamma(d/2) / (sqrt(pi) Gamma((d-1)/2)), about sqrt(d / (2 pi)).
double sphere_density_at_zero(std::size_t dim);

// E ||yhat - y||^2 of softmax retrieval at inverse temperature beta > 0 between two orthonormal
// points, the query uniform on the sphere and independent; leading order for large beta (science
// A.7 (1)): with t = <(x_1 - x_2)/sqrt(2), y> the wrong point weighs s = 1 / (1 + exp(sqrt(2) beta
// |t|)), the error is 2 s^2, and only |t| near 0 counts: 2 p0 * 2 (ln 2 - 1/2) / (sqrt(2) beta).
double softmax_pair_loss(std::size_t dim, double beta);

}  // namespace headroom
