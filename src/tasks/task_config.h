// The `task` section of the config.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "core/fields.h"

namespace headroom {

enum class TaskType {
  kNearestNeighbor,
  kNearestMinusFarthest,
  kPatternFit,
  kLinearRegression,
  kSparseLinearRegression,
  kReluNetworkRegression,
  kQuadraticRegression,
  kLinearClassification,
  kDecisionTree,
  kInnerProduct
};
inline constexpr std::array kTaskTypes{
    Choice<TaskType>{
        TaskType::kNearestNeighbor, "nearest_neighbor",
        "return the point of a set that is nearest to a query or farthest from it; each point "
        "asks, or queries of their own do"},
    Choice<TaskType>{
        TaskType::kNearestMinusFarthest, "nearest_minus_farthest",
        "return the nearest point to a query of its own minus the farthest, scaled to a mean "
        "square of 1: two heads can, one softmax head cannot"},
    Choice<TaskType>{
        TaskType::kPatternFit, "pattern_fit",
        "fit one given attention pattern: from fixed tokens X return P X, the rows of P drawn "
        "uniformly from the probability vectors (Bhojanapalli et al. 2020, Theorem 1)"},
    Choice<TaskType>{TaskType::kLinearRegression, "linear_regression",
                     "predict y = <w, x> in context from the pairs (x, y) that came before"},
    Choice<TaskType>{TaskType::kSparseLinearRegression, "sparse_linear_regression",
                     "in context: y = <w, x> where all but `sparsity` random entries of w are 0"},
    Choice<TaskType>{TaskType::kReluNetworkRegression, "relu_network_regression",
                     "in context: y = sqrt(2 / hidden) <w_2, relu(W_1 x)>, a random network of one "
                     "hidden layer"},
    Choice<TaskType>{TaskType::kQuadraticRegression, "quadratic_regression",
                     "in context: y = sum over the coordinates of w_c x_c^2, divided by sqrt(3)"},
    Choice<TaskType>{TaskType::kLinearClassification, "linear_classification",
                     "in context: y = sign(<w, x>), learned by the binary cross-entropy"},
    Choice<TaskType>{TaskType::kDecisionTree, "decision_tree",
                     "in context: y is the leaf of a random binary tree that asks for the sign of "
                     "one coordinate a node"},
    Choice<TaskType>{TaskType::kInnerProduct, "inner_product",
                     "for a query y and points x_i, all on the sphere: sum over i of sin(a <x_i, "
                     "y>), divided by sqrt(points), a = `frequency`; sin(a <x, y>) with one point"},
};

enum class PointsFrom { kSphere, kOrthonormal, kAntipodal };
inline constexpr std::array kPointsFrom{
    Choice<PointsFrom>{PointsFrom::kSphere, "sphere", "independent and uniform on the unit sphere"},
    Choice<PointsFrom>{PointsFrom::kOrthonormal, "orthonormal",
                       "a random orthonormal set, points <= dim; needs separate queries"},
    Choice<PointsFrom>{PointsFrom::kAntipodal, "antipodal",
                       "x and -x for each of `points` uniform points"},
};

enum class QueryMode { kSelfFarthest, kSelfNearest, kSeparate };
inline constexpr std::array kQueryModes{
    Choice<QueryMode>{QueryMode::kSelfFarthest, "self_farthest",
                      "each point asks for the point farthest from it"},
    Choice<QueryMode>{QueryMode::kSelfNearest, "self_nearest",
                      "each point asks for the nearest other point"},
    Choice<QueryMode>{QueryMode::kSeparate, "separate",
                      "`queries` uniform points, independent of the set, each ask for the nearest "
                      "point of the set"},
};

enum class Layout { kInterleaved, kPaired };
inline constexpr std::array kLayouts{
    Choice<Layout>{
        Layout::kInterleaved, "interleaved",
        "tokens x_1, y_1, x_2, y_2, ..., y in coordinate 0; a prediction at each x (Garg "
        "et al. 2022)"},
    Choice<Layout>{Layout::kPaired, "paired",
                   "tokens (y_i, x_i) of dim + 1 coordinates, the last with y = 0; one prediction, "
                   "at the last (von Oswald et al. 2023)"},
};

enum class PoolOf { kTasks, kPrompts };
inline constexpr std::array kPoolsOf{
    Choice<PoolOf>{PoolOf::kTasks, "tasks", "functions, each asked at fresh points"},
    Choice<PoolOf>{PoolOf::kPrompts, "prompts",
                   "whole prompts, points and noise included; those of an earlier stage of the "
                   "curriculum are cut from them"},
};

// A quantity that grows with training: updates 1..every at `start`, the next `every` at start +
// step, ...
struct Ramp {
  std::size_t start = 1, end = 1, step = 1, every = 1000;
  void declare(Fields& f);
  std::size_t at(std::size_t update) const;  // update counts from 1
};

struct CurriculumConfig {
  std::optional<Ramp> dims, points;
  void declare(Fields& f);
};

inline constexpr std::size_t kMaxTreeDepth = 10;

struct TaskConfig {
  TaskType type = TaskType::kNearestNeighbor;
  std::size_t dim = 16, points = 16;
  PointsFrom points_from = PointsFrom::kSphere;
  QueryMode query = QueryMode::kSelfFarthest;
  std::optional<std::size_t> queries;
  std::uint64_t instance = 0;
  double noise = 0;
  std::optional<double> input_range;
  std::optional<std::size_t> pool;
  PoolOf pool_of = PoolOf::kTasks;
  Layout layout = Layout::kInterleaved;
  std::size_t sparsity = 3, hidden = 100, depth = 4;
  double frequency = 4;
  std::optional<CurriculumConfig> curriculum;
  void declare(Fields& f);
};

// Whether points of a set are asked for (nearest_neighbor.h).
bool is_retrieval(TaskType type);

// Whether a prompt of pairs (x, y) is continued (in_context.h).
bool is_in_context(TaskType type);

// How many query tokens ask beside the sequence; 0: its own tokens ask.
std::size_t query_tokens(const TaskConfig& config);

// Throws Error(kUsage) for impossible combinations; the message names the keys and their values.
void validate(const TaskConfig& config);

}  // namespace headroom
