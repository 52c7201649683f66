// One maker a baseline; the table in baselines.cpp is their only user. A new baseline is its own
// file, a maker here and a row (or one row a task it serves) in that table.
#pragma once

#include <memory>

#include "baselines/baseline.h"

namespace headroom {

using BaselineMaker = std::unique_ptr<Baseline>(const Task& task, std::uint64_t seed);

// Steps of the stream (seed, kBaseline): one a use, so that no two uses share draws.
inline constexpr std::uint64_t kFitStep = 0, kChanceStep = 1;

BaselineMaker make_zero;
BaselineMaker make_best_linear_map, make_chance, make_exact;       // retrieval
BaselineMaker make_least_squares, make_nearest_3, make_averaging;  // regression in context

}  // namespace headroom
