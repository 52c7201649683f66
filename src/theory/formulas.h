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

// Of sign<w,y> on the sphere in dim >= 2 dimensions (science A.7 (4)): lambda_1 =
// Gamma(d/2) / (sqrt(pi) Gamma((d+1)/2)), the first coefficient of its expansion in harmonics;
// lambda_{l+2} = -l / (l + d) lambda_l.
double half_sphere_mean(std::size_t dim);

// log of the number of harmonics of degree l >= 1 in dim >= 2 dimensions,
// N_l = C(l+d-1, d-1) - C(l+d-3, d-1) = (2l + d - 2) / (l + d - 2) C(l+d-2, d-2).
double log_harmonics(std::size_t dim, std::size_t degree);

}  // namespace headroom
