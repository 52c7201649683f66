#include "tasks/task_config.h"

#include <algorithm>
#include <string>

#include "core/error.h"

namespace headroom {
namespace {

constexpr IntegerRange kSize{1, 65536};

std::string text(std::size_t n) { return std::to_string(n); }

void validate_ramp(const Ramp& ramp, const std::string& name, std::size_t limit) {
  const std::string path = "task.curriculum." + name;
  if (ramp.end < ramp.start) {
    refuse(path + ".end = " + text(ramp.end) + " is less than " + path +
           ".start = " + text(ramp.start));
  }
  const std::string whole = name == "dims" ? "task.dim" : "task.points";
  if (ramp.end > limit)
    refuse(path + ".end = " + text(ramp.end) + " is more than " + whole + " = " + text(limit));
}

// The first update's value of a ramp, or the whole.
std::size_t start_of(const std::optional<Ramp>& ramp, std::size_t whole) {
  return ramp ? ramp->start : whole;
}

void validate_in_context(const TaskConfig& c) {
  if (c.curriculum) {
    if (c.curriculum->dims) validate_ramp(*c.curriculum->dims, "dims", c.dim);
    if (c.curriculum->points) validate_ramp(*c.curriculum->points, "points", c.points);
  }
  if (c.type == TaskType::kSparseLinearRegression) {
    if (c.sparsity > c.dim) {
      refuse("task.sparsity = " + text(c.sparsity) + " is more than task.dim = " + text(c.dim));
    }
    const std::size_t dims = c.curriculum ? start_of(c.curriculum->dims, c.dim) : c.dim;
    if (c.sparsity > dims) {
      refuse("task.sparsity = " + text(c.sparsity) + " is more than task.curriculum.dims.start = " +
             text(dims) + ", among which the entries of w that are not 0 are drawn");
    }
  }
}

// The names of the types that `takes` says yes to.
std::vector<std::string> types_that(bool (*takes)(TaskType)) {
  std::vector<std::string> names;
  for (const Choice<TaskType>& row : kTaskTypes) {
    if (takes(row.value)) names.push_back(row.name);
  }
  return names;
}

const char* name_of(QueryMode mode) { return name_in(kQueryModes, mode); }
const char* name_of(TaskType type) { return name_in(kTaskTypes, type); }

// Of tasks that hold a number for every pair of points.
void refuse_many_pairs(const TaskConfig& c) {
  constexpr std::size_t kMostPoints = 4096;
  if (c.points > kMostPoints)
    refuse("task.points = " + text(c.points) + ": task.type = " + name_of(c.type) +
           " looks at every pair of points; at most " + text(kMostPoints));
}

void validate_retrieval(const TaskConfig& c) {
  const std::string type = name_of(c.type);
  const bool difference = c.type == TaskType::kNearestMinusFarthest;
  const bool separate = difference || c.query == QueryMode::kSeparate;
  if (c.queries && !separate) {
    refuse("task.queries = " + text(*c.queries) +
           " goes with task.query = separate, not with task.query = " + name_of(c.query));
  }
  if (c.points_from == PointsFrom::kOrthonormal) {
    if (c.points > c.dim) {
      refuse("task.points_from = orthonormal: task.points = " + text(c.points) +
             " vectors cannot be orthonormal in task.dim = " + text(c.dim) + " dimensions");
    }
    if (!separate) {
      refuse(
          "task.points_from = orthonormal puts every two points equally far apart, so that "
          "task.query = " +
          std::string(name_of(c.query)) +
          " has no answer; take task.query = separate or task.points_from = sphere");
    }
  }
  if (c.points_from != PointsFrom::kAntipodal && c.points < 2 && (!separate || difference)) {
    refuse("task.points = 1 leaves a point without another to return; task.type = " + type +
           " needs 2 or more");
  }
  if (difference) refuse_many_pairs(c);
  if (c.dim < 2) {
    refuse("task.dim = 1: on a line the sphere is -1 and 1 and the answer is a tie; task.type = " +
           type + " needs 2 or more");
  }
}

void validate_pattern_fit(const TaskConfig& c) {
  refuse_many_pairs(c);
  if (c.points > c.dim) {
    refuse("task.points = " + text(c.points) + " is more than task.dim = " + text(c.dim) +
           ": task.type = pattern_fit needs tokens that are linearly independent");
  }
  if (c.points_from == PointsFrom::kAntipodal) {
    refuse(
        "task.points_from = antipodal: task.type = pattern_fit needs tokens that are linearly "
        "independent; take sphere or orthonormal");
  }
}

void validate_inner_product(const TaskConfig& c) {
  if (c.dim >= 2) return;
  refuse(
      "task.dim = 1: on a line the sphere is -1 and 1; task.type = inner_product needs 2 or more");
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

bool is_retrieval(TaskType type) {
  return type == TaskType::kNearestNeighbor || type == TaskType::kNearestMinusFarthest;
}

bool is_in_context(TaskType type) {
  return !is_retrieval(type) && type != TaskType::kPatternFit && type != TaskType::kInnerProduct;
}

std::size_t query_tokens(const TaskConfig& config) {
  constexpr std::size_t kDefault = 16;
  const bool separate =
      config.type == TaskType::kNearestMinusFarthest || config.type == TaskType::kInnerProduct ||
      (config.type == TaskType::kNearestNeighbor && config.query == QueryMode::kSeparate);
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
            "Points of a set (retrieval; before antipodal doubling; inner_product), tokens of the "
            "pattern (pattern_fit) or examples of the longest prompt (in context).")
      .alias({"n_points", "num_points", "n", "length"});
  f.only_for(types_that([](TaskType t) { return is_retrieval(t) || t == TaskType::kPatternFit; }));
  f.choice("points_from", points_from, kPointsFrom, "Where the points lie.")
      .alias({"distribution"});
  f.only_for({"nearest_neighbor"});
  f.choice("query", query, kQueryModes, "Who asks, and for which point.");
  f.only_for(
      types_that([](TaskType t) { return is_retrieval(t) || t == TaskType::kInnerProduct; }));
  f.integer("queries", queries, kSize,
            "Query tokens a sequence; null = 16. With query = separate alone.")
      .alias({"n_queries", "num_queries"});
  f.only_for({"pattern_fit"});
  f.integer("instance", instance, {0, 4294967295},
            "Which tokens and which pattern: each number stands for a fixed draw of both.");
  f.only_for(types_that(
      [](TaskType t) { return is_in_context(t) && t != TaskType::kLinearClassification; }));
  f.real("noise", noise, {0, std::numeric_limits<double>::infinity()},
         "Standard deviation of the Gaussian noise added to each y.")
      .alias({"noise_std", "sigma"});
  f.only_for(types_that(is_in_context));
  f.real("input_range", input_range, {0, std::numeric_limits<double>::infinity(), true},
         "Coordinates of x uniform on (-input_range, input_range); null = N(0, 1).");
  f.integer("pool", pool, {1, 4294967295},
            "Train on this many random tasks alone, drawn by seeds.data; null = a fresh one each "
            "time. Evaluations are always of fresh ones.")
      .alias({"tasks", "num_tasks", "n_tasks", "num_training_examples"});
  f.choice("pool_of", pool_of, kPoolsOf, "What the pool holds.");
  f.choice("layout", layout, kLayouts, "How a prompt becomes tokens.");
  f.only_for({"sparse_linear_regression"});
  f.integer("sparsity", sparsity, kSize,
            "Entries of w that are not 0, at most dim, drawn among the coordinates in use.")
      .alias({"s", "nonzeros"});
  f.only_for({"inner_product"});
  f.real("frequency", frequency, {0, 1000, true}, "a of sin(a <x, y>).").alias({"a"});
  f.only_for({"relu_network_regression"});
  f.integer("hidden", hidden, kSize, "Width of the random network's hidden layer.")
      .alias({"hidden_layer_size", "hidden_size"});
  f.only_for({"decision_tree"});
  f.integer("depth", depth, {1, kMaxTreeDepth}, "Questions on the way to a leaf.")
      .alias({"max_depth"});
  f.only_for(types_that(is_in_context));
  f.section("curriculum", curriculum, "How the task grows with training; null = it does not.");
  f.only_for({});
}

void validate(const TaskConfig& config) {
  if (is_retrieval(config.type)) validate_retrieval(config);
  if (config.type == TaskType::kPatternFit) validate_pattern_fit(config);
  if (config.type == TaskType::kInnerProduct) validate_inner_product(config);
  if (is_in_context(config.type)) validate_in_context(config);
}

}  // namespace headroom
