#include "tasks/score.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "core/parallel.h"

namespace headroom {

namespace {

// log(1 + exp(a)), finite for every finite a.
double logistic(double a) { return std::max(a, 0.0) + std::log1p(std::exp(-std::abs(a))); }

}  // namespace

double mean_squared_error(View<const float, 2> output, View<const float, 2> target) {
  double sum = 0;
  for (std::size_t p = 0; p < target.dim(0); ++p) {
    const double error = double{output.data[p]} - double{target.data[p]};
    sum += error * error;
  }
  return sum / static_cast<double>(target.dim(0));
}

double wrong_sign(float output, float target) {
  const float margin = output * target;
  return margin > 0 ? 0 : margin == 0 ? 0.5 : 1;
}

ScoreSheet::ScoreSheet(const Task& task, Stage stage)
    : task_(&task),
      stage_(stage),
      position_scale_(task.position_scale()),
      loss_(task.shape(stage).loss),
      n_metrics_(task.metric_names().size()),
      n_positions_(position_scale_ > 0 ? task.shape(stage).predictions : 0),
      first_position_(task.shape(stage).first_position),
      sums_(1 + n_metrics_ + n_positions_),
      resampled_(sums_.size()),
      rows_(sums_.size()) {}

ScoreSheet::ScoreSheet(std::span<const Task* const> prompts)
    : position_scale_(prompts.front()->position_scale()),
      loss_(prompts.front()->shape().loss),
      n_metrics_(0),
      n_positions_(position_scale_ > 0 ? total_predictions(prompts) : 0),
      first_position_(prompts.front()->shape().first_position),
      sums_(1 + n_positions_),
      resampled_(sums_.size()),
      rows_(sums_.size()) {}

void ScoreSheet::measure(View<const float, 2> input, View<const float, 2> target,
                         View<const float, 2> output, std::span<double> row) const {
  assert(output.dims == target.dims && row.size() == row_size());
  const std::size_t n = target.dim(0), width = target.dim(1);
  const std::span<double> positions = row.last(n_positions_);
  assert(n_positions_ == 0 || n_positions_ == n);
  double loss = 0;
  for (std::size_t p = 0; p < n; ++p) {
    double error = 0;
    for (std::size_t e = p * width; e < (p + 1) * width; ++e) {
      if (loss_ == LossType::kLogistic) {
        loss += logistic(-double{output.data[e]} * double{target.data[e]});
        error += wrong_sign(output.data[e], target.data[e]);
        continue;
      }
      const double difference = double{output.data[e]} - double{target.data[e]};
      error += difference * difference;
    }
    if (loss_ == LossType::kSquared) loss += error;
    if (n_positions_ > 0) positions[p] = error / position_scale_;
  }
  row[0] = loss / static_cast<double>(n);
  if (n_metrics_ > 0) task_->metrics(stage_, input, target, output, row.subspan(1, n_metrics_));
}

void ScoreSheet::add_row(std::span<const double> row) {
  assert(row.size() == sums_.size());
  ++items_;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double above = row[i] - sums_[i].mean;
    sums_[i].mean += above / static_cast<double>(items_);
    sums_[i].m2 += above * (row[i] - sums_[i].mean);
  }
}

void ScoreSheet::add(View<const float, 2> input, View<const float, 2> target,
                     View<const float, 2> output) {
  const std::span<double> row = std::span(rows_).first(row_size());
  measure(input, target, output, row);
  add_row(row);
}

void ScoreSheet::add_batch(View<const float, 3> input, View<const float, 3> target,
                           View<const float, 3> output, View<const std::uint16_t, 2> counts) {
  constexpr std::size_t kTileItems = 4;
  const std::size_t n = input.dim(0), size = row_size();
  assert(target.dim(0) == n && output.dim(0) == n);
  if (rows_.size() < n * size) rows_.resize(n * size);
  const auto row = [&](std::size_t b) { return std::span(rows_).subspan(b * size, size); };
  parallel_rows(n, kTileItems, [&](std::size_t first, std::size_t count) {
    for (std::size_t b = first; b < first + count; ++b) {
      measure(input[b], target[b], output[b], row(b));
    }
  });
  add_rows(std::span(rows_).first(n * size), counts);
}

void ScoreSheet::add_rows(std::span<const double> rows, View<const std::uint16_t, 2> counts) {
  const std::size_t size = row_size();
  for (std::size_t at = 0; at < rows.size(); at += size) add_row(rows.subspan(at, size));
  if (!counts.empty()) resampled_.add(rows, counts);
}

Mean ScoreSheet::mean_of(std::size_t entry) const {
  const Sum& sum = sums_[entry];
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  const double n = static_cast<double>(items_);
  return {.mean = items_ > 0 ? sum.mean : kUnknown,
          .sem = items_ > 1 ? std::sqrt(sum.m2 / (n - 1) / n) : kUnknown,
          .interval = resampled_.interval(entry)};
}

Score ScoreSheet::score() const {
  Score score{.items = items_,
              .loss = mean_of(0),
              .metrics = {},
              .positions = {},
              .first_position = first_position_};
  for (std::size_t i = 1; i < sums_.size(); ++i) {
    (i <= n_metrics_ ? score.metrics : score.positions).push_back(mean_of(i));
  }
  return score;
}

}  // namespace headroom
