#include "train/evaluate.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "core/numbers.h"
#include "train/metrics.h"
#include "train/signals.h"

namespace headroom {

ModelIo model_io(const Task& task) {
  const TaskShape shape = task.shape();
  return {.input_dim = shape.input_dim,
          .output_dim = shape.output_dim,
          .tokens = shape.tokens,
          .queries = shape.queries};
}

void take_predictions(View<float, 3> predictions, View<const float, 3> output,
                      const TaskShape& shape) {
  for (std::size_t b = 0; b < predictions.dim(0); ++b) {
    for (std::size_t p = 0; p < shape.predictions; ++p) {
      const auto from = output[b][shape.read_at().token(p)].flat();
      std::copy(from.begin(), from.end(), predictions[b][p].data);
    }
  }
}

namespace {

// predictions first .. first + P - 1 of `row` (B,.,O) become those of `part` (B,P,O).
void put_predictions(View<float, 3> row, std::size_t first, View<const float, 3> part) {
  for (std::size_t b = 0; b < part.dim(0); ++b)
    std::ranges::copy(part[b].flat(), row[b].range(first, part.dim(1)).data);
}

}  // namespace

Evaluator::Evaluator(const Task& task, std::uint64_t seed, std::size_t n_items, std::size_t batch)
    : Evaluator(std::array{&task}, seed, n_items, batch) {}

Evaluator::Evaluator(std::span<const Task* const> prompts, std::uint64_t seed, std::size_t n_items,
                     std::size_t batch)
    : prompts_(prompts.begin(), prompts.end()),
      seed_(seed),
      n_items_(n_items),
      batch_(std::max<std::size_t>(1, std::min(batch, n_items))) {
  const auto lay_out = [&](Arena<float>& arena) {
    buffers_.clear();
    for (const Task* task : prompts_) {
      const TaskShape shape = task->shape();
      buffers_.push_back({.items = take_batch(arena, shape, batch_),
                          .predictions = arena.take(batch_, shape.predictions, shape.output_dim)});
    }
    targets_ = buffers_.front().items.target;
    predictions_ = buffers_.front().predictions;
    if (prompts_.size() == 1) return;
    targets_ = arena.take(batch_, total_predictions(prompts_), targets_.dim(2));
    predictions_ = arena.take(batch_, targets_.dim(1), targets_.dim(2));
  };
  Arena<float> measure;
  lay_out(measure);
  memory_ = Arena<float>(measure.used());
  lay_out(memory_);
}

std::optional<Score> Evaluator::run(Model<float>& model, const std::function<void(double)>& took,
                                    bool intervals) {
  using std::chrono::steady_clock;
  const Task& task = *prompts_.front();
  const bool single = prompts_.size() == 1;
  ScoreSheet sheet = single ? ScoreSheet(task, task.final_stage()) : ScoreSheet(prompts_);
  std::optional<Bootstrap> bootstrap;
  if (intervals) bootstrap.emplace(seed_, n_items_);
  for (std::size_t first = 0; first < n_items_; first += batch_) {
    const steady_clock::time_point begin = steady_clock::now();
    const std::size_t count = std::min(batch_, n_items_ - first);
    std::size_t filled = 0;
    for (std::size_t t = 0; t < prompts_.size(); ++t) {
      if (stop_requested()) return std::nullopt;
      const Task& prompt = *prompts_[t];
      const Batch items = buffers_[t].items.range(0, count);
      const View<float, 3> predictions = buffers_[t].predictions.range(0, count);
      sample_batch(prompt, seed_, Purpose::kEval, 0, first, prompt.final_stage(), items);
      const View<const float, 3> output =
          model.forward(items.input, items.query);  // (B,T,O) or (B,Q,O)
      take_predictions(predictions, output, prompt.shape());
      if (single) continue;
      put_predictions(targets_, filled, items.target);
      put_predictions(predictions_, filled, predictions);
      filled += predictions.dim(1);
    }
    const auto counts = bootstrap ? bootstrap->next(count) : View<const std::uint16_t, 2>();
    sheet.add_batch(buffers_.front().items.input.range(0, count), targets_.range(0, count),
                    predictions_.range(0, count), counts);
    if (took) took(std::chrono::duration<double>(steady_clock::now() - begin).count());
  }
  return sheet.score();
}

std::vector<std::string> baseline_rows(const std::vector<BaselineScore>& scores) {
  std::vector<std::string> lines{csv_header(columns_of("baselines.csv"))};
  const auto row = [&](const std::string& name, const std::string& position, const Mean& error) {
    lines.push_back(name + "," + position + "," + real_text(error.mean) + "," +
                    real_text(error.sem));
  };
  for (const BaselineScore& baseline : scores) {
    const std::vector<Mean>& positions = baseline.score.positions;
    if (positions.empty()) row(baseline.name, "", baseline.score.loss);
    for (std::size_t k = 0; k < positions.size(); ++k) {
      row(baseline.name, std::to_string(baseline.score.first_position + k), positions[k]);
    }
  }
  return lines;
}

}  // namespace headroom
