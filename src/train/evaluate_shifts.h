// The held-out stream under distribution shifts (tasks/shifts.h): the model beside the baselines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "baselines/baseline.h"
#include "model/model.h"
#include "tasks/score.h"
#include "tasks/shifts.h"

namespace headroom {

// A shift with its tasks; none where choice.left_out says why.
struct PlannedShift {
  ShiftChoice choice;
  ShiftedTask task;
};

// Each choice with its tasks for this model, whose config is resolved for the task as it is. A
// prompt longer than the model's table of positions is an Error(kUsage) where it was asked for by
// name, else left out.
std::vector<PlannedShift> plan_shifts(const TaskConfig& task, const ModelConfig& model,
                                      std::vector<ShiftChoice> choices, std::uint64_t seed);

// `io` with room for the longest of their prompts.
ModelIo widened(ModelIo io, std::span<const PlannedShift> shifts);

// The model's scores on items 0 .. n_items-1 of stream (seed, kEval, 0), with bootstrap intervals:
// of the task as it is, and one a shift, empty where that is left out. The model must take `batch`
// items of widened() sizes. Nothing if stop_requested().
struct ModelScores {
  Score plain;
  std::vector<Score> shifted;  // the loss is the mean over the positions; no metrics
};
std::optional<ModelScores> evaluate_model(const Task& task, std::span<const PlannedShift> shifts,
                                          Model<float>& model, std::uint64_t seed,
                                          std::size_t n_items, std::size_t batch);

struct ShiftScore {
  ShiftChoice choice;
  std::vector<std::size_t> examples;  // that each position has seen
  Score model;
  std::vector<BaselineScore> baselines;
};
// The model's scores, one a shift, beside those of baselines fitted for the task as it is, on the
// same items.
std::optional<std::vector<ShiftScore>> score_shifts(std::span<const PlannedShift> shifts,
                                                    std::span<const Score> of_model,
                                                    std::span<const FittedBaseline> baselines,
                                                    std::uint64_t seed, std::size_t n_items);

}  // namespace headroom
