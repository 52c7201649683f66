#include "train/evaluate_shifts.h"

#include <algorithm>

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

std::optional<std::vector<ShiftScore>> evaluate_shifts(std::span<const PlannedShift> shifts,
                                                       Model<float>& model,
                                                       std::span<const FittedBaseline> baselines,
                                                       std::uint64_t seed, std::size_t n_items,
                                                       std::size_t batch) {
  std::vector<ShiftScore> scores;
  for (const PlannedShift& shift : shifts) {
    ShiftScore score{
        .choice = shift.choice, .examples = shift.task.examples, .model = {}, .baselines = {}};
    if (shift.choice.left_out.empty()) {
      const std::vector<const Task*> prompts = pointers(shift.task.prompts);
      Evaluator evaluator(prompts, seed, n_items, batch);
      const auto of_model = evaluator.run(model, {}, true);
      if (!of_model) return std::nullopt;
      auto of_baselines = score_baselines(baselines, prompts, seed, n_items, stop_requested, true);
      if (!of_baselines) return std::nullopt;
      score.model = *of_model;
      score.baselines = std::move(*of_baselines);
    }
    scores.push_back(std::move(score));
  }
  return scores;
}

}  // namespace headroom
