#include <array>

#include "baselines/makers.h"

namespace headroom {

namespace {

constexpr TaskType kRetrieval = TaskType::kNearestNeighbor;
constexpr TaskType kRegression = TaskType::kLinearRegression;

constexpr const char* kZero = "predicts 0: error 1 at every position";

constexpr std::array kRows{
    BaselineRow{kRetrieval, "zero", "predicts the zero vector: loss 1", make_zero},
    BaselineRow{kRetrieval, "chance",
                "returns a point of the set other than the asking one at random", make_chance},
    BaselineRow{
        kRetrieval, "best_linear_map",
        "a (the asking point) + b (sum of the other points), a and b by least squares: what "
        "no attention pattern is needed for",
        make_best_linear_map},
    BaselineRow{kRetrieval, "exact", "finds the wanted point by comparing all pairs: loss 0",
                make_exact},
    BaselineRow{kRegression, "zero", kZero, make_zero},
    BaselineRow{kRegression, "averaging", "<w, x> with w the mean of y_i x_i over the examples",
                make_averaging},
    BaselineRow{kRegression, "nearest_3",
                "the mean y of the 3 nearest examples; of all where there are fewer",
                make_nearest_3},
    BaselineRow{kRegression, "least_squares",
                "ordinary least squares through the examples, the solution of least norm",
                make_least_squares},
    BaselineRow{TaskType::kSparseLinearRegression, "zero", kZero, make_zero},
    BaselineRow{TaskType::kReluNetworkRegression, "zero", kZero, make_zero},
    BaselineRow{TaskType::kQuadraticRegression, "zero", kZero, make_zero},
    BaselineRow{TaskType::kLinearClassification, "zero", "guesses: half of the signs are wrong",
                make_zero},
    BaselineRow{TaskType::kDecisionTree, "zero", kZero, make_zero},
};

}  // namespace

std::span<const BaselineRow> baseline_rows() { return kRows; }

std::string Baseline::name() const { return row_->name; }
std::string Baseline::sentence() const { return row_->sentence; }

std::vector<std::unique_ptr<Baseline>> make_baselines(const Task& task, std::uint64_t seed) {
  std::vector<std::unique_ptr<Baseline>> baselines;
  for (const BaselineRow& row : kRows) {
    if (row.task != task.config().type) continue;
    baselines.push_back(row.make(task, seed));
    baselines.back()->row_ = &row;
  }
  return baselines;
}

}  // namespace headroom
