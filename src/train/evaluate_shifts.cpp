#include "train/evaluate_shifts.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "train/evaluate.h"
#include "train/signals.h"

namespace headroom {

namespace {

std::size_t longest_prompt(const ShiftedTask& shifted) {
  std::size_t tokens = 0;
  for (const auto& task : shifted.prompts) tokens = std::max(tokens, task->shape().tokens);
  return tokens;
}

}  // namespace

std::vector<PlannedShift> plan_shifts(const TaskConfig& task, const ModelConfig& model,
                                      std::vector<ShiftChoice> choices, std::uint64_t seed) {
  const bool table = model.positions.type == PositionsType::kLearned ||
                     model.positions.type == PositionsType::kConcatenated;
  std::vector<PlannedShift> planned;
  for (ShiftChoice& choice : choices) {
    PlannedShift shift{.choice = std::move(choice), .task = {}};
    if (shift.choice.left_out.empty()) shift.task = shifted_task(task, shift.choice, seed);
    const std::size_t tokens = longest_prompt(shift.task);
    if (table && tokens > *model.positions.length) {
      shift.choice.left_out = "its prompts of " + std::to_string(tokens) +
                              " tokens are longer than model.positions.length = " +
                              std::to_string(*model.positions.length);
      shift.task = {};
      if (shift.choice.by_name) {
        throw Error(Exit::kUsage, "shift " + shift.choice.name() + ": " + shift.choice.left_out);
      }
    }
    planned.push_back(std::move(shift));
  }
  return planned;
}

ModelIo widened(ModelIo io, std::span<const PlannedShift> shifts) {
  for (const PlannedShift& shift : shifts)
    io.tokens = std::max(io.tokens, longest_prompt(shift.task));
  return io;
}

std::optional<ModelScores> evaluate_model(const Task& task, std::span<const PlannedShift> shifts,
                                          Model<float>& model, std::uint64_t seed,
                                          std::size_t n_items, std::size_t batch) {
  std::vector<std::vector<const Task*>> lists{{&task}};
  for (const PlannedShift& shift : shifts)
    if (shift.choice.left_out.empty()) lists.push_back(pointers(shift.task.prompts));
  // In parts a model forgets what it could continue.
  Evaluator evaluator(std::move(lists), seed, n_items, std::min(batch, model.items_at_once()));
  const auto scores = evaluator.run_lists(model, {}, true);
  if (!scores) return std::nullopt;
  ModelScores all{.plain = scores->front(), .shifted = {}};
  auto next = scores->begin() + 1;
  for (const PlannedShift& shift : shifts)
    all.shifted.push_back(shift.choice.left_out.empty() ? *next++ : Score{});
  return all;
}

std::optional<std::vector<ShiftScore>> score_shifts(std::span<const PlannedShift> shifts,
                                                    std::span<const Score> of_model,
                                                    std::span<const FittedBaseline> baselines,
                                                    std::uint64_t seed, std::size_t n_items) {
  std::vector<ShiftScore> scores;
  for (std::size_t s = 0; s < shifts.size(); ++s) {
    const PlannedShift& shift = shifts[s];
    ShiftScore score{.choice = shift.choice,
                     .examples = shift.task.examples,
                     .model = of_model[s],
                     .baselines = {}};
    if (shift.choice.left_out.empty()) {
      auto of_baselines = score_baselines(baselines, pointers(shift.task.prompts), seed, n_items,
                                          stop_requested, true);
      if (!of_baselines) return std::nullopt;
      score.baselines = std::move(*of_baselines);
    }
    scores.push_back(std::move(score));
  }
  return scores;
}

}  // namespace headroom
