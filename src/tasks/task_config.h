// The `task` section of the config.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "core/fields.h"

namespace headroom {

enum class TaskType { kNearestNeighbor, kLinearRegression };
inline constexpr std::array kTaskTypes{
    Choice<TaskType>{
        TaskType::kNearestNeighbor, "nearest_neighbor",
        "return the point of a set that is nearest to a query or farthest from it; each point "
        "asks, or queries of their own do"},
    Choice<TaskType>{TaskType::kLinearRegression, "linear_regression",
                     "predict y = <w, x> in context from the pairs (x, y) that came before"},
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

struct TaskConfig {
  TaskType type = TaskType::kNearestNeighbor;
  std::size_t dim = 16, points = 16;
  PointsFrom points_from = PointsFrom::kSphere;
  QueryMode query = QueryMode::kSelfFarthest;
  std::optional<std::size_t> queries;
  double noise = 0;
  std::optional<CurriculumConfig> curriculum;
  void declare(Fields& f);
};

// How many query tokens ask beside the sequence; 0: its own tokens ask.
std::size_t query_tokens(const TaskConfig& config);

// Throws Error(kUsage) for impossible combinations; the message names the keys and their values.
void validate(const TaskConfig& config);

}  // namespace headroom
