#include "train/evaluate.h"

#include <algorithm>
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

Evaluator::Evaluator(const Task& task, std::uint64_t seed, std::size_t n_items, std::size_t batch)
    : task_(task),
      seed_(seed),
      n_items_(n_items),
      batch_(std::max<std::size_t>(1, std::min(batch, n_items))) {
  const TaskShape shape = task.shape();
  const auto lay_out = [&](Arena<float>& arena) {
    buffer_ = take_batch(arena, shape, batch_);
    predictions_ = arena.take(batch_, shape.predictions, shape.output_dim);
  };
  Arena<float> measure;
  lay_out(measure);
  memory_ = Arena<float>(measure.used());
  lay_out(memory_);
}

std::optional<Score> Evaluator::run(Model<float>& model, const std::function<void(double)>& took,
                                    bool intervals) {
  using std::chrono::steady_clock;
  const Stage stage = task_.final_stage();
  const TaskShape shape = task_.shape(stage);
  ScoreSheet sheet(task_, stage);
  std::optional<Bootstrap> bootstrap;
  if (intervals) bootstrap.emplace(seed_, n_items_);
  for (std::size_t first = 0; first < n_items_; first += batch_) {
    if (stop_requested()) return std::nullopt;
    const steady_clock::time_point begin = steady_clock::now();
    const std::size_t count = std::min(batch_, n_items_ - first);
    const Batch items = buffer_.range(0, count);
    sample_batch(task_, seed_, Purpose::kEval, 0, first, stage, items);
    const View<const float, 3> output =
        model.forward(items.input, items.query);  // (B,T,O) or (B,Q,O)
    const View<float, 3> predictions = predictions_.range(0, count);
    take_predictions(predictions, output, shape);
    const auto counts = bootstrap ? bootstrap->next(count) : View<const std::uint16_t, 2>();
    sheet.add_batch(items.input, items.target, predictions, counts);
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
