#include <algorithm>
#include <atomic>
#include <vector>

#include "baselines/baseline.h"
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

std::vector<BaselineScore> evaluate_baselines(const Task& task, std::uint64_t seed,
                                              std::size_t n_items,
                                              const std::function<bool()>& stop) {
  std::atomic<bool> stopped{stop && stop()};
  if (stopped) return {};
  // Predictors read interleaved tokens and answer at every position; those that the task asks for
  // are the last.
  const std::unique_ptr<Task> twin = interleaved(task);
  const Task& read = twin ? *twin : task;
  const std::vector<std::unique_ptr<Baseline>> baselines = make_baselines(read, seed);
  const Stage stage = task.final_stage();
  const TaskShape judged = task.shape(stage);
  std::vector<ScoreSheet> sheets(baselines.size(), ScoreSheet(task, stage));

  Arena<float> measure;
  lay_out(measure, read.shape(stage));
  Arena<float> arena(measure.used());
  const std::vector<Item> memory = lay_out(arena, read.shape(stage));

  // Rows of the score sheets are measured in any order and added in the order of the items.
  const std::size_t chunk = std::min(n_items, kChunkItems), size = sheets.front().row_size();
  std::vector<double> numbers(baselines.size() * chunk * size);
  const auto row = [&](std::size_t b, std::size_t i) {
    return std::span(numbers).subspan((b * chunk + i) * size, size);
  };
  for (std::size_t first = 0; first < n_items; first += chunk) {
    const std::size_t count = std::min(chunk, n_items - first);
    parallel_rows(count, kTileItems, [&](std::size_t from, std::size_t n) {
      if (stopped || (stop && stop())) {
        stopped = true;
        return;
      }
      const Item& item = memory[worker()];
      for (std::size_t i = from; i < from + n; ++i) {
        Random random(seed, Purpose::kEval, 0, first + i);
        read.sample(random, stage, item.input, item.query, item.target);
        for (std::size_t b = 0; b < baselines.size(); ++b) {
          baselines[b]->predict(first + i, item.input, item.query, item.output);
          const std::size_t skipped = item.target.dim(0) - judged.predictions;
          sheets[b].measure(item.input, item.target.range(skipped, judged.predictions),
                            item.output.range(skipped, judged.predictions), row(b, i));
        }
      }
    });
    if (stopped) return {};
    for (std::size_t b = 0; b < baselines.size(); ++b) {
      for (std::size_t i = 0; i < count; ++i) sheets[b].add_row(row(b, i));
    }
  }

  std::vector<BaselineScore> scores;
  for (std::size_t b = 0; b < baselines.size(); ++b) {
    scores.push_back({.name = baselines[b]->name(),
                      .sentence = baselines[b]->sentence(),
                      .score = sheets[b].score()});
  }
  return scores;
}

}  // namespace headroom
