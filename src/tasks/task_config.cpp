#include "tasks/task_config.h"

#include <algorithm>
#include <string>

#include "core/error.h"

namespace headroom {
namespace {

constexpr IntegerRange kSize{1, 65536};

[[noreturn]] void fail(const std::string& message) { throw Error(Exit::kUsage, message); }
std::string text(std::size_t n) { return std::to_string(n); }

void validate_ramp(const Ramp& ramp, const std::string& name, std::size_t limit) {
  const std::string path = "task.curriculum." + name;
  if (ramp.end < ramp.start) {
    fail(path + ".end = " + text(ramp.end) + " is less than " + path +
         ".start = " + text(ramp.start));
  }
  const std::string whole = name == "dims" ? "task.dim" : "task.points";
  if (ramp.end > limit)
    fail(path + ".end = " + text(ramp.end) + " is more than " + whole + " = " + text(limit));
}

const char* name_of(QueryMode mode) {
  for (const Choice<QueryMode>& row : kQueryModes) {
    if (row.value == mode) return row.name;
  }
  return "";
}

void validate_nearest_neighbor(const TaskConfig& c) {
  const bool separate = c.query == QueryMode::kSeparate;
  if (c.queries && !separate) {
    fail("task.queries = " + text(*c.queries) +
         " goes with task.query = separate, not with task.query = " + name_of(c.query));
  }
  if (c.points_from == PointsFrom::kOrthonormal) {
    if (c.points > c.dim) {
      fail("task.points_from = orthonormal: task.points = " + text(c.points) +
           " vectors cannot be orthonormal in task.dim = " + text(c.dim) + " dimensions");
    }
    if (!separate) {
      fail(
          "task.points_from = orthonormal puts every two points equally far apart, so that "
          "task.query = " +
          std::string(name_of(c.query)) +
          " has no answer; take task.query = separate or task.points_from = sphere");
    }
  }
  if (c.points_from == PointsFrom::kSphere && c.points < 2 && !separate) {
    fail(
        "task.points = 1 leaves a point without another to return; task.type = nearest_neighbor "
        "needs 2 or more");
  }
  if (c.dim < 2) {
    fail(
        "task.dim = 1: on a line the sphere is -1 and 1 and the answer is a tie; task.type = "
        "nearest_neighbor "
        "needs 2 or more");
  }
}

}  // namespace

void Ramp::declare(Fields& f) {
  f.integer("start", start, kSize, "Value during updates 1 .. every.");
  f.integer("end", end, kSize, "Value that it stops at, and that evaluations use.");
  f.integer("step", step, kSize, "What each later stage adds.");
  f.integer("every", every, {1, 1'000'000'000'000}, "Updates a stage lasts.").alias({"interval"});
}

std::size_t Ramp::at(std::size_t update) const {
  const std::size_t stage = update == 0 ? 0 : (update - 1) / every;
  // By division: stage * step may exceed 2^64.
  if (end <= start || stage >= (end - start + step - 1) / step) return std::max(start, end);
  return start + stage * step;
}

std::size_t query_tokens(const TaskConfig& config) {
  constexpr std::size_t kDefault = 16;
  const bool separate =
      config.type == TaskType::kNearestNeighbor && config.query == QueryMode::kSeparate;
  return separate ? config.queries.value_or(kDefault) : 0;
}

void CurriculumConfig::declare(Fields& f) {
  f.section("dims", dims, "Coordinates of x that are non-zero; null = all from the first update.");
  f.section("points", points, "Points of a sequence; null = all from the first update.");
}

void TaskConfig::declare(Fields& f) {
  f.choice("type", type, kTaskTypes, "The task.").alias({"name"});
  f.integer("dim", dim, kSize, "Dimension d of a point.")
      .alias({"d", "dims", "n_dims", "dimension"});
  f.integer("points", points, kSize,
            "Points of a sequence (nearest_neighbor; before antipodal doubling) or examples of the "
            "longest "
            "prompt (in context).")
      .alias({"n_points", "num_points", "n", "length"});
  f.only_for({"nearest_neighbor"});
  f.choice("points_from", points_from, kPointsFrom, "Where the points lie.")
      .alias({"distribution"});
  f.choice("query", query, kQueryModes, "Who asks, and for which point.");
  f.integer("queries", queries, kSize,
            "Query tokens a sequence, with query = separate alone; null = 16.")
      .alias({"n_queries", "num_queries"});
  f.only_for({"linear_regression"});
  f.real("noise", noise, {0, std::numeric_limits<double>::infinity()},
         "Standard deviation of the Gaussian noise added to each y.")
      .alias({"noise_std", "sigma"});
  f.section("curriculum", curriculum, "How the task grows with training; null = it does not.");
  f.only_for({});
}

void validate(const TaskConfig& config) {
  if (config.type == TaskType::kNearestNeighbor) validate_nearest_neighbor(config);
  if (config.type == TaskType::kLinearRegression && config.curriculum) {
    if (config.curriculum->dims) validate_ramp(*config.curriculum->dims, "dims", config.dim);
    if (config.curriculum->points)
      validate_ramp(*config.curriculum->points, "points", config.points);
  }
}

}  // namespace headroom
