// A task that needs two heads: the attention weights of one softmax head are positive, so it can
// return the nearest point or the farthest but not their difference (science E.8).
#include <cmath>
#include <numbers>
#include <vector>

#include "tasks/nearest_neighbor.h"
#include "tasks/points.h"
#include "tasks/tasks.h"

namespace headroom {

namespace {

// E[max_k t_k min_k t_k] of the inner products of n >= 2 independent uniform points with a fixed
// one: max = cos u and min = cos v at angles u < v have the density n (n - 1) f(u) f(v) (F(v) -
// F(u))^(n - 2), f proportional to sin^(d - 2). Midpoints, all weights divided by their sum.
double extremes_product(std::size_t dim, std::size_t n) {
  constexpr std::size_t kNodes = 400;
  std::vector<double> cosine(kNodes), density(kNodes), below(kNodes);
  double total = 0;
  for (std::size_t i = 0; i < kNodes; ++i) {
    const double angle = std::numbers::pi * (static_cast<double>(i) + 0.5) / kNodes;
    cosine[i] = std::cos(angle);
    density[i] = std::pow(std::sin(angle), static_cast<double>(dim) - 2);
    below[i] = total + density[i] / 2;
    total += density[i];
  }
  double sum = 0, weights = 0;
  for (std::size_t i = 0; i < kNodes; ++i) {
    for (std::size_t j = i; j < kNodes; ++j) {
      // The angles of one node are equal in half of its square; 0^0 = 1, as two points need.
      const double weight = density[i] * density[j] * (i == j ? 0.5 : 1) *
                            std::pow((below[j] - below[i]) / total, static_cast<double>(n) - 2);
      sum += weight * cosine[i] * cosine[j];
      weights += weight;
    }
  }
  return sum / weights;
}

class NearestMinusFarthest final : public Task {
 public:
  explicit NearestMinusFarthest(const TaskConfig& config)
      : Task(config), scale_(difference_scale(config)) {}

  TaskShape shape(Stage) const override {
    const std::size_t queries = query_tokens(config_);
    return {.tokens = set_size(config_),
            .queries = queries,
            .input_dim = config_.dim,
            .predictions = queries,
            .output_dim = config_.dim};
  }

  // Points and queries are those of nearest_neighbor with query = separate.
  void draw(Draws draws, Stage, View<float, 2> input, View<float, 2> query,
            View<float, 2> target) const override {
    fill_set(draws.item, config_, input);
    fill_sphere(draws.item, query);
    answer_differences(input, query, scale_, target);
  }

  std::vector<std::string> metric_names() const override { return {}; }
  void metrics(Stage, View<const float, 2>, View<const float, 2>, View<const float, 2>,
               std::span<double>) const override {}
  double position_scale() const override { return 0; }
  std::vector<std::string> train_columns() const override { return {}; }
  std::vector<double> train_values(Stage) const override { return {}; }

 private:
  double scale_;
};

}  // namespace

double difference_scale(const TaskConfig& config) {
  switch (config.points_from) {
    case PointsFrom::kSphere:
      return 1 / std::sqrt(2 - 2 * extremes_product(config.dim, config.points));
    case PointsFrom::kOrthonormal:
      return 1 / std::numbers::sqrt2;
    case PointsFrom::kAntipodal:
      return 0.5;
  }
  return 1;
}

std::unique_ptr<Task> make_nearest_minus_farthest(const TaskConfig& config) {
  return std::make_unique<NearestMinusFarthest>(config);
}

}  // namespace headroom
