#include "tasks/in_context.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "tasks/score.h"
#include "tasks/tasks.h"

namespace headroom {

namespace {

// The stream that a shift of this item draws from: keyed by the item's first numbers, which leaves
// the item's own stream as it is.
Random shift_stream(Random item) {
  const std::uint64_t high = item.bits(), low = item.bits();
  return {high << 32 | low, Purpose::kShift, 1, 0};
}

// Each worker's memory for a prompt before it becomes tokens. It grows to the largest prompt and
// stays, so that sampling does not allocate once every worker has seen one.
std::span<float> prompt_memory(std::size_t n) {
  thread_local std::vector<float> memory;
  if (memory.size() < n) memory.resize(n);
  return std::span(memory).first(n);
}

void write_interleaved(View<float, 2> tokens, View<const float, 2> x, std::span<const float> y) {
  const std::size_t d = x.dim(1);
  for (std::size_t i = 0; i < y.size(); ++i) {
    float* const token = tokens.data + 2 * i * d;
    std::copy_n(x.data + i * d, d, token);
    std::fill_n(token + d, d, 0.0f);
    token[d] = y[i];
  }
}

void write_paired(View<float, 2> tokens, View<const float, 2> x, std::span<const float> y) {
  const std::size_t d = x.dim(1);
  for (std::size_t i = 0; i < y.size(); ++i) {
    float* const token = tokens.data + i * (d + 1);
    token[0] = i + 1 < y.size() ? y[i] : 0.0f;
    std::copy_n(x.data + i * d, d, token + 1);
  }
}

}  // namespace

TaskShape InContextTask::shape(Stage stage) const {
  if (examples_) stage.points = *examples_ + 1;
  if (config_.layout == Layout::kPaired) {
    return {.tokens = stage.points,
            .input_dim = config_.dim + 1,
            .predictions = 1,
            .output_dim = 1,
            .first_token = stage.points - 1,
            .first_position = stage.points - 1};
  }
  const std::size_t first = examples_.value_or(0);
  return {.tokens = 2 * stage.points,
          .input_dim = config_.dim,
          .predictions = stage.points - first,
          .output_dim = 1,
          .token_stride = 2,
          .first_token = 2 * first,
          .first_position = first};
}

void InContextTask::set_shift(std::shared_ptr<const Shift> shift,
                              std::optional<std::size_t> examples) {
  shift_ = std::move(shift);
  examples_ = examples;
}

void InContextTask::draw(Draws draws, Stage stage, View<float, 2> input, View<float, 2>,
                         View<float, 2> target) const {
  const std::size_t drawn = stage.points, d = config_.dim;
  const std::size_t n = examples_ ? *examples_ + 1 : drawn;
  assert(stage.dims <= d && n <= drawn && input.dim(0) == shape(stage).tokens);
  const std::span<float> memory = prompt_memory(drawn * d + n + std::max(n, d));
  const View<float, 2> all(memory.data(), {drawn, d}), x = all.range(0, n);
  const std::span<float> y = memory.subspan(drawn * d, n), scratch = memory.subspan(drawn * d + n);
  std::optional<Random> shifting;
  if (shift_) shifting = shift_stream(draws.item);
  if (config_.input_range) {
    const float range = static_cast<float>(*config_.input_range);
    draws.item.fill_uniform(all.flat(), -range, range);
  } else {
    draws.item.fill_normal(all.flat());
  }
  if (stage.dims < d) {
    for (std::size_t i = 0; i < n; ++i) {
      std::fill_n(x.data + i * d + stage.dims, d - stage.dims, 0.0f);
    }
  }
  if (shift_) shift_->inputs(*shifting, stage.dims, x);
  answer(draws.function, stage, x, scratch.first(d), y);
  if (config_.noise > 0) {
    const std::span<float> noise = scratch.first(n);
    draws.item.fill_normal(noise);
    for (std::size_t i = 0; i < n; ++i) y[i] += static_cast<float>(config_.noise) * noise[i];
  }
  if (shift_) shift_->answers(*shifting, y);
  config_.layout == Layout::kPaired ? write_paired(input, x, y) : write_interleaved(input, x, y);
  std::copy_n(y.data() + n - target.dim(0), target.dim(0), target.data);
}

InputMoments InContextTask::input_moments() const {
  InputMoments x;
  if (config_.input_range) {
    const double square = *config_.input_range * *config_.input_range;
    x = {.square = square / 3, .fourth = square * square / 5};
  }
  const double share = static_cast<double>(final_stage().dims) / static_cast<double>(config_.dim);
  return {.square = share * x.square, .fourth = share * x.fourth};
}

double InContextTask::position_scale() const {
  if (!shift_) return mean_square(input_moments());
  return shift_->answer_scale() * mean_square(shift_->moments(input_moments()));
}

std::vector<std::string> InContextTask::metric_names() const { return {"normalized_loss"}; }

void InContextTask::metrics(Stage, View<const float, 2>, View<const float, 2> target,
                            View<const float, 2> output, std::span<double> out) const {
  out[0] = mean_squared_error(output, target) / position_scale();
}

std::vector<std::string> InContextTask::train_columns() const { return {"dims", "points"}; }

std::vector<double> InContextTask::train_values(Stage stage) const {
  return {static_cast<double>(stage.dims), static_cast<double>(stage.points)};
}

std::unique_ptr<Task> interleaved(const Task& task) {
  TaskConfig config = task.config();
  if (!is_in_context(config.type) || config.layout == Layout::kInterleaved) return nullptr;
  config.layout = Layout::kInterleaved;
  std::unique_ptr<Task> twin = make_task(config);
  const auto& paired = static_cast<const InContextTask&>(task);
  static_cast<InContextTask&>(*twin).set_shift(paired.shift_, paired.examples_);
  return twin;
}

Prompt read_prompt(View<const float, 2> input) {
  const std::size_t n = input.dim(0) / 2, d = input.dim(1);
  return {.x = {input.data, n, d, 2 * d}, .y = {input.data + d, n, 1, 2 * d}};
}

}  // namespace headroom
