#include <algorithm>
#include <atomic>
#include <vector>

#include "baselines/makers.h"
#include "core/arena.h"
#include "core/parallel.h"
#include "tasks/in_context.h"

namespace headroom {

namespace {

// Items measured in one go; the scores do not depend on either number.
constexpr std::size_t kChunkItems = 4096, kTileItems = 4;

// One worker's memory for an item.
struct Item {
  View<float, 2> input, query, target, output;  // (T,D), (Q,D), (P,O), (P,O)
};

std::vector<Item> lay_out(Arena<float>& arena, const TaskShape& shape) {
  std::vector<Item> items(static_cast<std::size_t>(threads()));
  for (Item& item : items) {
    item = {.input = arena.take(shape.tokens, shape.input_dim),
            .query = arena.take(shape.queries, shape.input_dim),
            .target = arena.take(shape.predictions, shape.output_dim),
            .output = arena.take(shape.predictions, shape.output_dim)};
  }
  return items;
}

}  // namespace

std::optional<std::vector<FittedBaseline>> fit_baselines(const Task& task, std::uint64_t seed,
                                                         const BaselineOptions& options) {
  const std::unique_ptr<Task> twin = interleaved(task);
  std::vector<FittedBaseline> fitted;
  for (const BaselineChoice& choice : choose_baselines(task.config().type, options.names)) {
    if (asked_to_stop(options.stop)) return std::nullopt;
    std::unique_ptr<Baseline> predictor = choice.row->make(
        {.task = twin ? *twin : task, .seed = seed, .value = choice.value, .stop = options.stop});
    if (predictor == nullptr) return std::nullopt;
    fitted.push_back({choice, std::move(predictor)});
  }
  return fitted;
}

std::optional<std::vector<BaselineScore>> evaluate_baselines(const Task& task, std::uint64_t seed,
                                                             std::size_t n_items,
                                                             const BaselineOptions& options) {
  const auto fitted = fit_baselines(task, seed, options);
  if (!fitted) return std::nullopt;
  return score_baselines(*fitted, task, seed, n_items, options.stop, options.intervals);
}

std::optional<std::vector<BaselineScore>> score_baselines(std::span<const FittedBaseline> baselines,
                                                          const Task& task, std::uint64_t seed,
                                                          std::size_t n_items, const Stop& stop,
                                                          bool intervals) {
  std::atomic<bool> stopped{false};
  // Predictors read interleaved tokens and answer at every position; those that the task asks for
  // are the last.
  const std::unique_ptr<Task> twin = interleaved(task);
  const Task& read = twin ? *twin : task;
  const Stage stage = task.final_stage();
  const TaskShape judged = task.shape(stage);
  std::vector<ScoreSheet> sheets(baselines.size(), ScoreSheet(task, stage));

  Arena<float> measure;
  lay_out(measure, read.shape(stage));
  Arena<float> arena(measure.used());
  const std::vector<Item> memory = lay_out(arena, read.shape(stage));

  // Rows of the score sheets are measured in any order and added in the order of the items.
  const std::size_t chunk = std::min(n_items, kChunkItems);
  const std::size_t size = sheets.empty() ? 0 : sheets.front().row_size();
  std::optional<Bootstrap> bootstrap;
  if (intervals) bootstrap.emplace(seed, n_items);
  std::vector<double> numbers(baselines.size() * chunk * size);
  const auto row = [&](std::size_t b, std::size_t i) {
    return std::span(numbers).subspan((b * chunk + i) * size, size);
  };
  for (std::size_t first = 0; first < n_items; first += chunk) {
    const std::size_t count = std::min(chunk, n_items - first);
    parallel_rows(count, kTileItems, [&](std::size_t from, std::size_t n) {
      const Item& item = memory[worker()];
      for (std::size_t i = from; i < from + n; ++i) {
        Random random(seed, Purpose::kEval, 0, first + i);
        read.sample(random, stage, item.input, item.query, item.target);
        for (std::size_t b = 0; b < baselines.size(); ++b) {
          if (stopped || asked_to_stop(stop)) {
            stopped = true;
            return;
          }
          baselines[b].predictor->predict(first + i, item.input, item.query, item.output);
          const std::size_t skipped = item.target.dim(0) - judged.predictions;
          sheets[b].measure(item.input, item.target.range(skipped, judged.predictions),
                            item.output.range(skipped, judged.predictions), row(b, i));
        }
      }
    });
    if (stopped) return std::nullopt;
    const auto counts = bootstrap ? bootstrap->next(count) : View<const std::uint16_t, 2>();
    for (std::size_t b = 0; b < baselines.size(); ++b) {
      sheets[b].add_rows(std::span(numbers).subspan(b * chunk * size, count * size), counts);
    }
  }

  std::vector<BaselineScore> scores;
  for (std::size_t b = 0; b < baselines.size(); ++b) {
    scores.push_back({.name = baselines[b].choice.name(),
                      .sentence = baselines[b].choice.row->sentence,
                      .score = sheets[b].score()});
  }
  return scores;
}

}  // namespace headroom
