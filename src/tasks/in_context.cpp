#include "tasks/in_context.h"

#include <algorithm>
#include <cassert>

namespace headroom {

namespace {

// Rows 0 .. P-1 of `tokens` (2P,d) hold x; spreads them to the even rows and writes y between them.
// From the last row on, since row i moves to row 2i.
void interleave(View<float, 2> tokens, std::span<const float> y) {
  const std::size_t d = tokens.dim(1);
  for (std::size_t i = y.size(); i-- > 0;) {
    float* x = tokens.data + 2 * i * d;
    if (i > 0) std::copy_n(tokens.data + i * d, d, x);
    std::fill_n(x + d, d, 0.0f);
    x[d] = y[i];
  }
}

}  // namespace

TaskShape InContextTask::shape(Stage stage) const {
  return {.tokens = 2 * stage.points,
          .input_dim = config_.dim,
          .predictions = stage.points,
          .output_dim = 1,
          .token_stride = 2};
}

void InContextTask::sample(Random& random, Stage stage, View<float, 2> input, View<float, 2>,
                           View<float, 2> target) const {
  const std::size_t n = stage.points, d = config_.dim;
  assert(stage.dims <= d && input.dim(0) == 2 * n && input.dim(1) == d && target.size() == n);
  // Until the answers are known x lies packed in the front half of the input; the back half is
  // scratch.
  const View<float, 2> x = input.range(0, n);
  const std::span<float> scratch = input.range(n, n).flat();
  const std::span<float> y = target.flat();
  random.fill_normal(x.flat());
  if (stage.dims < d) {
    for (std::size_t i = 0; i < n; ++i) {
      std::fill_n(x.data + i * d + stage.dims, d - stage.dims, 0.0f);
    }
  }
  answer(random, stage, x, scratch, y);
  if (config_.noise > 0) {
    const std::span<float> noise = scratch.first(n);
    random.fill_normal(noise);
    for (std::size_t i = 0; i < n; ++i) y[i] += static_cast<float>(config_.noise) * noise[i];
  }
  interleave(input, y);
}

std::vector<std::string> InContextTask::metric_names() const { return {"excess_loss"}; }

void InContextTask::metrics(Stage stage, View<const float, 2>, View<const float, 2> target,
                            View<const float, 2> output, std::span<double> out) const {
  const std::size_t n = target.dim(0);
  double loss = 0, unexplained = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double error = double{output.data[i]} - double{target.data[i]};
    loss += error * error;
    if (i < stage.dims) unexplained += static_cast<double>(stage.dims - i);
  }
  const double count = static_cast<double>(n);
  out[0] = loss / count / (unexplained / count + config_.noise * config_.noise);
}

std::vector<std::string> InContextTask::train_columns() const { return {"dims", "points"}; }

std::vector<double> InContextTask::train_values(Stage stage) const {
  return {static_cast<double>(stage.dims), static_cast<double>(stage.points)};
}

Prompt read_prompt(View<const float, 2> input) {
  const std::size_t n = input.dim(0) / 2, d = input.dim(1);
  return {.x = {input.data, n, d, 2 * d}, .y = {input.data + d, n, 1, 2 * d}};
}

}  // namespace headroom
