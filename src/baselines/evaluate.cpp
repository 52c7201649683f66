#include <algorithm>
#include <array>
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

// One worker's memory for an item of a task.
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

// A task as predictors read it: they read interleaved tokens and answer at every position; those
// that the task asks for are the last.
struct Reader {
  std::unique_ptr<Task> twin;
  const Task* read = nullptr;
  std::size_t judged = 0;    // predictions
  std::vector<Item> memory;  // one a worker

  explicit Reader(const Task& task)
      : twin(interleaved(task)),
        read(twin ? twin.get() : &task),
        judged(task.shape().predictions) {}
};

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
  return score_baselines(baselines, std::array{&task}, seed, n_items, stop, intervals);
}

std::optional<std::vector<BaselineScore>> score_baselines(std::span<const FittedBaseline> baselines,
                                                          std::span<const Task* const> prompts,
                                                          std::uint64_t seed, std::size_t n_items,
                                                          const Stop& stop, bool intervals) {
  std::atomic<bool> stopped{false};
  const Task& task = *prompts.front();
  const bool single = prompts.size() == 1;
  std::vector<ScoreSheet> sheets(
      baselines.size(), single ? ScoreSheet(task, task.final_stage()) : ScoreSheet(prompts));

  std::vector<Reader> readers;
  for (const Task* prompt : prompts) readers.emplace_back(*prompt);
  Arena<float> measure;
  std::vector<View<float, 3>>
      rows;  // (2,P,O) targets and outputs of all prompts in a row, a worker
  const auto plan = [&](Arena<float>& arena) {
    for (Reader& reader : readers) reader.memory = lay_out(arena, reader.read->shape());
    rows.resize(static_cast<std::size_t>(threads()));
    for (View<float, 3>& row : rows)
      row = arena.take(1 + baselines.size(), total_predictions(prompts), task.shape().output_dim);
  };
  plan(measure);
  Arena<float> arena(measure.used());
  plan(arena);

  // Rows of the score sheets are measured in any order and added in the order of the items.
  const std::size_t chunk = std::min(n_items, kChunkItems);
  const std::size_t size = sheets.empty() ? 0 : sheets.front().row_size();
  std::optional<Bootstrap> bootstrap;
  if (intervals) bootstrap.emplace(seed, n_items);
  std::vector<double> numbers(baselines.size() * chunk * size);
  const auto row = [&](std::size_t b, std::size_t i) {
    return std::span(numbers).subspan((b * chunk + i) * size, size);
  };
  // Of item `number`: its targets in row 0 of the worker's memory, and baseline b's output in row
  // 1 + b.
  const auto predict = [&](std::size_t number) {
    const View<float, 3> all = rows[worker()];
    std::size_t filled = 0;
    for (const Reader& reader : readers) {
      const Item& item = reader.memory[worker()];
      Random random(seed, Purpose::kEval, 0, number);
      reader.read->sample(random, reader.read->final_stage(), item.input, item.query, item.target);
      const std::size_t skipped = item.target.dim(0) - reader.judged;
      const auto keep = [&](std::size_t r, View<const float, 2> from) {
        std::ranges::copy(from.range(skipped, reader.judged).flat(),
                          all[r].range(filled, reader.judged).data);
      };
      keep(0, item.target);
      for (std::size_t b = 0; b < baselines.size(); ++b) {
        if (stopped || asked_to_stop(stop)) {
          stopped = true;
          return;
        }
        baselines[b].predictor->predict(number, item.input, item.query, item.output);
        keep(1 + b, item.output);
      }
      filled += reader.judged;
    }
  };
  for (std::size_t first = 0; first < n_items; first += chunk) {
    const std::size_t count = std::min(chunk, n_items - first);
    parallel_rows(count, kTileItems, [&](std::size_t from, std::size_t n) {
      for (std::size_t i = from; i < from + n; ++i) {
        predict(first + i);
        if (stopped) return;
        const View<const float, 2> input = readers.front().memory[worker()].input;
        for (std::size_t b = 0; b < baselines.size(); ++b)
          sheets[b].measure(input, rows[worker()][0], rows[worker()][1 + b], row(b, i));
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
