// Gradient descent on the examples' squared error, and the step size that serves it best.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "baselines/baseline.h"
#include "baselines/examples.h"

namespace headroom {

// `steps` steps w -= rate * gradient of (1 / (2 k)) sum_{i<k} (<w, x_i> - y_i)^2 from w = 0; 0
// without examples.
Eigen::VectorXd gradient_descent(const ExampleSums& sums, std::size_t steps, double rate);

// For each position 0 .. P-1 the rate with the least mean squared error of the prediction after
// these steps, over `items` prompts of stream (seed, kBaseline, kTuneStep) at the final stage; 0 at
// position 0. Nothing once stopped. steps <= kMostTunedSteps.
//
// One fixed size is what a linear attention layer can do (science D.3). In many steps it diverges
// on the rare prompt whose largest eigenvalue is far above the usual.
//
// The prediction is a polynomial in the rate, sum_t (-1)^t C(steps, t+1) rate^(t+1) x^T G^t c with
// G = X^T X / k and c = X^T y / k, so that each prompt is worked through once, whatever the number
// of rates tried: a grid from 1e-4 to 4 in units of d / trace(G), then a golden-section search.
inline constexpr std::size_t kMostTunedSteps = 24;  // beyond it the sum's terms cancel too much
std::optional<std::vector<double>> tuned_rates(const Task& task, std::uint64_t seed,
                                               std::size_t steps, std::size_t items,
                                               const Stop& stop);

}  // namespace headroom
