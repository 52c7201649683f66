// One maker a baseline; the table in baselines.cpp is their only user. A new baseline is its own
// file, a maker here and a row in that table.
#pragma once

#include <memory>

#include "baselines/baseline.h"

namespace headroom {

using BaselineMaker = std::unique_ptr<Baseline>(const BaselineSetting& setting);

// Steps of the stream (seed, kBaseline): one a use, so that no two uses share draws.
inline constexpr std::uint64_t kFitStep = 0, kChanceStep = 1, kTuneStep = 2, kNetworkStep = 3;

BaselineMaker make_zero, make_uniform;
BaselineMaker make_best_linear_map, make_chance, make_exact;  // retrieval
BaselineMaker make_bilinear_form, make_exact_inner_product;   // inner_product
// Regression in context.
BaselineMaker make_averaging, make_nearest, make_weighted_nearest, make_least_squares, make_ridge,
    make_ridge_optimal, make_lasso, make_gradient_descent, make_tree, make_whole_tree,
    make_boosted_trees, make_two_layer_network;

inline bool asked_to_stop(const Stop& stop) { return stop && stop(); }

}  // namespace headroom
