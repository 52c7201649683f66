// Memory for the items of a task, and statistics for the tests of what is drawn.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/rng.h"
#include "tasks/task.h"

namespace headroom {

// n items of one stage with their views.
struct Items {
  std::vector<float> memory;
  Batch batch;

  Items(const Task& task, Stage stage, std::size_t n) {
    const TaskShape s = task.shape(stage);
    memory.assign(n * ((s.tokens + s.queries) * s.input_dim + s.predictions * s.output_dim),
                  -77.0f);
    batch.input = {memory.data(), {n, s.tokens, s.input_dim}};
    float* end = memory.data() + batch.input.size();
    if (s.queries > 0) batch.query = {end, {n, s.queries, s.input_dim}};
    batch.target = {end + batch.query.size(), {n, s.predictions, s.output_dim}};
  }
  Items(const Task& task, std::size_t n) : Items(task, task.final_stage(), n) {}
  Items(const Items&) = delete;

  View<float, 2> input(std::size_t i = 0) const { return batch.input[i]; }
  View<float, 2> query(std::size_t i = 0) const {
    return batch.query.empty() ? View<float, 2>{} : batch.query[i];
  }
  View<float, 2> target(std::size_t i = 0) const { return batch.target[i]; }
};

inline void sample_one(const Task& task, std::uint64_t item, const Items& into,
                       std::uint64_t seed = 1) {
  Random random(seed, Purpose::kTest, 0, item);
  task.sample(random, task.final_stage(), into.input(), into.query(), into.target());
}

inline TaskConfig retrieval(std::size_t dim, std::size_t points,
                            PointsFrom from = PointsFrom::kSphere,
                            QueryMode query = QueryMode::kSelfFarthest) {
  TaskConfig config;
  config.dim = dim;
  config.points = points;
  config.points_from = from;
  config.query = query;
  return config;
}

inline TaskConfig separate(std::size_t dim, std::size_t points, std::size_t queries,
                           PointsFrom from = PointsFrom::kSphere) {
  TaskConfig config = retrieval(dim, points, from, QueryMode::kSeparate);
  config.queries = queries;
  return config;
}

inline TaskConfig regression(std::size_t dim, std::size_t points, double noise = 0) {
  TaskConfig config;
  config.type = TaskType::kLinearRegression;
  config.dim = dim;
  config.points = points;
  config.noise = noise;
  return config;
}

// The mean of independent numbers and how many standard errors it lies from what theory says.
class Sample {
 public:
  void add(double value) {
    ++n_;
    sum_ += value;
    squares_ += value * value;
  }
  double mean() const { return sum_ / n_; }
  double sigmas_from(double expected) const {
    const double variance = (squares_ - sum_ * sum_ / n_) / (n_ - 1);
    return std::abs(mean() - expected) / std::sqrt(variance / n_);
  }

 private:
  double n_ = 0, sum_ = 0, squares_ = 0;
};

}  // namespace headroom
