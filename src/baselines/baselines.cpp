#include <array>

#include "baselines/makers.h"

namespace headroom {

namespace {

bool retrieval(TaskType task) { return task == TaskType::kNearestNeighbor; }
bool regression(TaskType task) { return task == TaskType::kLinearRegression; }

constexpr std::array kThree{3.0};

constexpr std::array kRows{
    BaselineRow{.name = "zero",
                .sentence = "predicts the zero vector: loss 1",
                .serves = retrieval,
                .make = make_zero},
    BaselineRow{.name = "chance",
                .sentence = "returns a point of the set other than the asking one at random",
                .serves = retrieval,
                .make = make_chance},
    BaselineRow{.name = "best_linear_map",
                .sentence = "a (the asking point) + b (sum of the other points), a and b by least "
                            "squares: what no attention pattern is needed for",
                .serves = retrieval,
                .make = make_best_linear_map,
                .reference = true},
    BaselineRow{.name = "exact",
                .sentence = "finds the wanted point by comparing all pairs: loss 0",
                .serves = retrieval,
                .make = make_exact},

    BaselineRow{.name = "zero",
                .sentence = "predicts 0: error 1 at every position",
                .serves = regression,
                .make = make_zero,
                .reference = true},
    BaselineRow{.name = "averaging",
                .sentence = "<w, x> with w the mean of y_i x_i over the examples",
                .serves = regression,
                .make = make_averaging},
    BaselineRow{.name = "nearest",
                .sentence = "the mean y of the K nearest examples; of all where there are fewer",
                .serves = regression,
                .make = make_nearest,
                .parameter = "K",
                .counts = true,
                .values = kThree},
    BaselineRow{.name = "weighted_nearest",
                .sentence = "the same with weights 1 / distance; the mean of those at distance 0 "
                            "where there are any",
                .serves = regression,
                .make = make_weighted_nearest,
                .parameter = "K",
                .counts = true,
                .values = kThree},
    BaselineRow{.name = "least_squares",
                .sentence = "ordinary least squares through the examples, the solution of least "
                            "norm",
                .serves = regression,
                .make = make_least_squares},
};

}  // namespace

std::span<const BaselineRow> baseline_rows() { return kRows; }

}  // namespace headroom
