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

// The same with the output divided by its length (a model that ends in an l2 norm): the error is
// 2 - 2 (1 + e^(-2 z))^(-1/2) at z = sqrt(2) beta |t|, whose integral over z > 0 is
// 2 ln((1 + sqrt(2)) / 2).
double normalized_softmax_pair_loss(std::size_t dim, double beta);

// E ||yhat - y||^2 of the mean of `heads` choices between two orthonormal points, the query
// uniform: head h takes the point with the larger <P_h y, x>, P_h the projection on a random
// subspace of `rank` <= dim dimensions. Mean over subspaces; heads are independent at a given angle
// theta of y with +-(x_1 - x_2), so it is 2 E[q^2 + q (1 - q) / heads], q(theta) the probability
// that one is wrong: theta / pi at rank 1, 0 at rank dim. By quadrature, good to 1e-4.
double average_vote_loss(std::size_t dim, std::size_t rank, std::size_t heads);

// The same of the majority of rank-1 choices, where there is none the earlier point:
// 2 E[Pr(n > heads / 2) + Pr(n = heads / 2) / 2], n binomial of `heads` with probability
// theta / pi; about (2 / pi) arctan(pi sqrt(dim) / (2 sqrt(heads))) for many heads.
double majority_vote_loss(std::size_t dim, std::size_t heads);

// Of sign<w,y> on the sphere in dim >= 2 dimensions (science A.7 (4)): lambda_1 =
// Gamma(d/2) / (sqrt(pi) Gamma((d+1)/2)), the first coefficient of its expansion in harmonics;
// lambda_{l+2} = -l / (l + d) lambda_l.
double half_sphere_mean(std::size_t dim);

// log of the number of harmonics of degree l >= 1 in dim >= 2 dimensions,
// N_l = C(l+d-1, d-1) - C(l+d-3, d-1) = (2l + d - 2) / (l + d - 2) C(l+d-2, d-2).
double log_harmonics(std::size_t dim, std::size_t degree);

}  // namespace headroom
