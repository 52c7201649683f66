// A task that needs two heads: the attention weights of one softmax head are positive, so it can
// return the nearest point or the farthest but not their difference (science E.8).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/matmul.h"
#include "kernels/vector.h"
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

// The differences scale (x_i - x_j), i != j, of the rows of x (N,d). Nearest to a prediction z is
// that with the largest 2 <z, x_i> - 2 <z, x_j> - scale ||x_i - x_j||^2.
class PairDifferences {
 public:
  PairDifferences(View<const float, 2> x, double scale)
      : x_(x),
        row_(kernels::round_up_to_lanes(x.dim(0))),
        spread_(x.dim(0) * row_, kLowest),
        minus_(row_, kLowest) {
    const std::size_t n = x.dim(0);
    constexpr std::size_t kColumns = 64;
    for (std::size_t j = 0; j < n; j += kColumns) {
      const std::size_t m = std::min(kColumns, n - j);
      kernels::matmul_float32({spread_.data() + j, n, m, row_}, x, kernels::Transpose::kNo,
                              x.range(j, m), kernels::Transpose::kYes, 1.0f, 0.0f);
    }
    std::vector<float> squares(n);
    for (std::size_t i = 0; i < n; ++i) squares[i] = spread_[i * row_ + i];
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        float& entry = spread_[i * row_ + j];
        const float apart = squares[i] + squares[j] - 2 * entry;
        entry = i == j ? kLowest : -static_cast<float>(scale) * apart;
      }
  }

  // The pair (i,j) whose difference is nearest to z (d); none where no distance is finite.
  std::optional<std::pair<std::size_t, std::size_t>> nearest(const float* z) {
    const std::size_t n = x_.dim(0);
    for (std::size_t i = 0; i < n; ++i) minus_[i] = -2 * dot(z, x_[i].data, x_.dim(1));
    std::optional<std::pair<std::size_t, std::size_t>> pair;
    float largest = kLowest;
    for (std::size_t i = 0; i < n; ++i) {
      const float* const row = spread_.data() + i * row_;
      kernels::Vec best = kernels::broadcast(kLowest);
      for (std::size_t j = 0; j < row_; j += kernels::kLanes)
        best = kernels::max(kernels::load(row + j) + kernels::load(minus_.data() + j), best);
      const float here = kernels::horizontal_max(best) - minus_[i];
      if (!(here > largest)) continue;
      largest = here;
      std::size_t j = 0;
      while (j + 1 < n && row[j] + minus_[j] != kernels::horizontal_max(best)) ++j;
      pair = {i, j};
    }
    return pair;
  }

 private:
  static constexpr float kLowest = -std::numeric_limits<float>::infinity();
  View<const float, 2> x_;
  std::size_t row_;            // N rounded up to whole vectors
  std::vector<float> spread_;  // (N,row): -scale ||x_i - x_j||^2, lowest where i = j and behind
  std::vector<float> minus_;   // (row): -2 <z, x_i>
};

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

  std::vector<std::string> metric_names() const override { return {"accuracy"}; }

  // accuracy: the share of predictions to which the wanted difference is the nearest of those of
  // all ordered pairs of points. A prediction that is not finite is nearest to none.
  void metrics(Stage, View<const float, 2> input, View<const float, 2> target,
               View<const float, 2> output, std::span<double> out) const override {
    PairDifferences differences(input, scale_);
    const float factor = static_cast<float>(scale_);
    std::size_t right = 0;
    for (std::size_t p = 0; p < output.dim(0); ++p) {
      const auto pair = differences.nearest(output[p].data);
      bool same = pair.has_value();
      for (std::size_t c = 0; same && c < input.dim(1); ++c)
        same = target(p, c) == factor * (input(pair->first, c) - input(pair->second, c));
      if (same) ++right;
    }
    out[0] = static_cast<double>(right) / static_cast<double>(output.dim(0));
  }
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
