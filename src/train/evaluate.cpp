#include "train/evaluate.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

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
    : Evaluator({{&task}}, seed, n_items, batch) {}

Evaluator::Evaluator(std::vector<std::vector<const Task*>> lists, std::uint64_t seed,
                     std::size_t n_items, std::size_t batch)
    : seed_(seed), n_items_(n_items), batch_(std::max<std::size_t>(1, std::min(batch, n_items))) {
  for (std::vector<const Task*>& tasks : lists) {
    const std::size_t first = prompts_.size();
    for (const Task* task : tasks)
      prompts_.push_back({.task = task, .items = {}, .next = {}, .predictions = {}});
    lists_.push_back({.tasks = std::move(tasks), .first = first, .targets = {}, .predictions = {}});
  }
  const auto lay_out = [&](Arena<float>& arena) {
    for (Prompt& prompt : prompts_) {
      const TaskShape shape = prompt.task->shape();
      prompt.items = take_batch(arena, shape, batch_);
      prompt.next = arena.take(shape.predictions == 1 ? batch_ : 0, 1, shape.input_dim);
      prompt.predictions = arena.take(batch_, shape.predictions, shape.output_dim);
    }
    for (List& list : lists_) {
      const Prompt& prompt = prompts_[list.first];
      list.targets = prompt.items.target;
      list.predictions = prompt.predictions;
      if (list.tasks.size() == 1) continue;
      list.targets = arena.take(batch_, total_predictions(list.tasks), list.targets.dim(2));
      list.predictions = arena.take(batch_, list.targets.dim(1), list.targets.dim(2));
    }
  };
  Arena<float> measure;
  lay_out(measure);
  memory_ = Arena<float>(measure.used());
  lay_out(memory_);
}

// Where the first tokens of the prompt are those of what the model has just read, its one
// prediction follows from them.
bool Evaluator::predict_next(Model<float>& model, const Prompt& seen, const Prompt& prompt,
                             std::size_t count) {
  const TaskShape shape = prompt.task->shape();
  const std::size_t before = shape.first_token;
  if (shape.predictions != 1 || shape.queries > 0 || before > seen.items.input.dim(1) ||
      !model.continues())
    return false;
  for (std::size_t b = 0; b < count; ++b) {
    const View<const float, 2> tokens = prompt.items.input[b];
    if (!std::ranges::equal(tokens.range(0, before).flat(),
                            seen.items.input[b].range(0, before).flat()))
      return false;
    std::ranges::copy(tokens[before].flat(), prompt.next[b].data);
  }
  const View<const float, 3> output = model.forward_next(prompt.next.range(0, count), before);
  std::ranges::copy(output.flat(), prompt.predictions.data);
  return true;
}

// The predictions of all prompts, the longest first. False once stopped.
bool Evaluator::predict(Model<float>& model, std::size_t count) {
  std::vector<const Prompt*> left;
  for (const Prompt& prompt : prompts_) left.push_back(&prompt);
  std::ranges::stable_sort(left, std::greater(),
                           [](const Prompt* p) { return p->items.input.dim(1); });
  while (!left.empty()) {
    if (stop_requested()) return false;
    const Prompt& prompt = *left.front();
    const Batch items = prompt.items.range(0, count);
    const View<const float, 3> output =
        model.forward(items.input, items.query);  // (B,T,O) or (B,Q,O)
    take_predictions(prompt.predictions.range(0, count), output, prompt.task->shape());
    left.erase(left.begin());
    std::erase_if(left, [&](const Prompt* p) { return predict_next(model, prompt, *p, count); });
  }
  return true;
}

std::optional<Score> Evaluator::run(Model<float>& model, const std::function<void(double)>& took,
                                    bool intervals) {
  auto scores = run_lists(model, took, intervals);
  return scores ? std::optional(std::move(scores->front())) : std::nullopt;
}

std::optional<std::vector<Score>> Evaluator::run_lists(Model<float>& model,
                                                       const std::function<void(double)>& took,
                                                       bool intervals) {
  using std::chrono::steady_clock;
  std::vector<ScoreSheet> sheets;
  for (const List& list : lists_) {
    const Task& task = *list.tasks.front();
    sheets.push_back(list.tasks.size() == 1 ? ScoreSheet(task, task.final_stage())
                                            : ScoreSheet(list.tasks));
  }
  std::optional<Bootstrap> bootstrap;
  if (intervals) bootstrap.emplace(seed_, n_items_);
  for (std::size_t first = 0; first < n_items_; first += batch_) {
    const steady_clock::time_point begin = steady_clock::now();
    const std::size_t count = std::min(batch_, n_items_ - first);
    for (const Prompt& prompt : prompts_) {
      sample_batch(*prompt.task, seed_, Purpose::kEval, 0, first, prompt.task->final_stage(),
                   prompt.items.range(0, count));
    }
    if (!predict(model, count)) return std::nullopt;
    const auto counts = bootstrap ? bootstrap->next(count) : View<const std::uint16_t, 2>();
    for (std::size_t l = 0; l < lists_.size(); ++l) {
      const List& list = lists_[l];
      const std::span prompts = std::span(prompts_).subspan(list.first, list.tasks.size());
      std::size_t filled = 0;
      for (const Prompt& prompt : prompts) {
        if (prompts.size() == 1) break;  // it lies there
        put_predictions(list.targets, filled, prompt.items.target.range(0, count));
        put_predictions(list.predictions, filled, prompt.predictions.range(0, count));
        filled += prompt.predictions.dim(1);
      }
      sheets[l].add_batch(prompts.front().items.input.range(0, count), list.targets.range(0, count),
                          list.predictions.range(0, count), counts);
    }
    if (took) took(std::chrono::duration<double>(steady_clock::now() - begin).count());
  }
  std::vector<Score> scores;
  for (const ScoreSheet& sheet : sheets) scores.push_back(sheet.score());
  return scores;
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
