#include "tasks/tasks.h"

#include <array>
#include <cassert>

namespace headroom {

namespace {

constexpr std::array kRows{
    TaskRow{TaskType::kNearestNeighbor, make_nearest_neighbor},
    TaskRow{TaskType::kNearestMinusFarthest, make_nearest_minus_farthest},
    TaskRow{TaskType::kPatternFit, make_pattern_fit},
    TaskRow{TaskType::kLinearRegression, make_linear_regression},
    TaskRow{TaskType::kSparseLinearRegression, make_sparse_linear_regression},
    TaskRow{TaskType::kReluNetworkRegression, make_relu_network_regression},
    TaskRow{TaskType::kQuadraticRegression, make_quadratic_regression},
    TaskRow{TaskType::kLinearClassification, make_linear_classification},
    TaskRow{TaskType::kDecisionTree, make_decision_tree},
    TaskRow{TaskType::kInnerProduct, make_inner_product},
};
static_assert(kRows.size() == kTaskTypes.size(), "every task type has one row");

}  // namespace

std::span<const TaskRow> task_rows() { return kRows; }

std::unique_ptr<Task> make_task(const TaskConfig& config) {
  for (const TaskRow& row : kRows) {
    if (row.type == config.type) return row.make(config);
  }
  assert(false && "a task type without a row");
  return nullptr;
}

}  // namespace headroom
