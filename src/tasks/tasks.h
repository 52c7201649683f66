// The table of tasks: one row a name of kTaskTypes. A new task is its own file, a name in
// task_config.h, a maker here and a row in tasks.cpp.
#pragma once

#include <memory>
#include <span>

#include "tasks/task.h"

namespace headroom {

std::unique_ptr<Task> make_nearest_neighbor(const TaskConfig& config);
std::unique_ptr<Task> make_nearest_minus_farthest(const TaskConfig& config);
std::unique_ptr<Task> make_pattern_fit(const TaskConfig& config);
std::unique_ptr<Task> make_linear_regression(const TaskConfig& config);
std::unique_ptr<Task> make_sparse_linear_regression(const TaskConfig& config);
std::unique_ptr<Task> make_relu_network_regression(const TaskConfig& config);
std::unique_ptr<Task> make_quadratic_regression(const TaskConfig& config);
std::unique_ptr<Task> make_linear_classification(const TaskConfig& config);
std::unique_ptr<Task> make_decision_tree(const TaskConfig& config);
std::unique_ptr<Task> make_inner_product(const TaskConfig& config);

struct TaskRow {
  TaskType type;
  std::unique_ptr<Task> (*make)(const TaskConfig& config);
};
std::span<const TaskRow> task_rows();

}  // namespace headroom
