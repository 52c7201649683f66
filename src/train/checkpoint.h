// A checkpoint: everything the next update depends on, in one safetensors file. Tensors are NAME
// for parameters, optimizer.m.NAME and (AdamW) optimizer.v.NAME; the rest stands in the metadata:
//
//   format "headroom-checkpoint", version "1", config (the resolved config), optimizer (its type),
//   and the fields of TrainState. Whole numbers are digits, reals the shortest text that reads back
//   the same.
//
// Random streams are pure functions of (seed, step), so `step` and the config are the stream state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/params.h"
#include "train/optimizer.h"
#include "train/safetensors.h"

namespace headroom {

// Where training stands, apart from parameters and moments.
struct TrainState {
  std::uint64_t step = 0;        // updates done
  std::uint64_t tokens = 0;      // tokens seen by them
  double loss_sum = 0;           // of the updates since the last row of train.csv
  std::uint64_t loss_count = 0;  // how many these are
  double best_value =
      std::numeric_limits<double>::quiet_NaN();  // of eval.best_metric; nan: none yet
  std::uint64_t best_step = 0;
  std::uint64_t patience_used = 0;  // evaluations in a row without a new best
  std::uint64_t evaluated = 0;      // 1 once the evaluation due at this step is done
};

// visit(name, field) for each field: the one list from which saving and loading work.
template <class State, class Visit>
void for_each_field(State& s, const Visit& visit) {
  visit("step", s.step);
  visit("tokens", s.tokens);
  visit("loss_sum", s.loss_sum);
  visit("loss_count", s.loss_count);
  visit("best_value", s.best_value);
  visit("best_step", s.best_step);
  visit("patience_used", s.patience_used);
  visit("evaluated", s.evaluated);
}

// Writes the file atomically; Error(kFile) with the path. The same arguments give the same bytes.
void save_checkpoint(const std::filesystem::path& file, const ParamTable& table,
                     std::span<const float> params, const Optimizer<float>& optimizer,
                     const TrainState& state, const std::string& config);

bool is_checkpoint(const safetensors::Archive& archive);

// The state alone. Throws Error(kCorrupt) as load_checkpoint does.
TrainState checkpoint_state(const safetensors::Archive& archive);

// Fills parameters and moments (the arrays are untouched on error) and returns the state. Throws
// Error(kCorrupt) naming the path and the tensor or field for what is missing, extra, of another
// shape or not finite.
template <class S>
TrainState load_checkpoint(const safetensors::Archive& archive, const ParamTable& table,
                           std::span<S> params, Optimizer<S>& optimizer);

// Fills the parameters alone, from a checkpoint or from any file that holds just these tensors,
// each name behind `prefix`. Errors as above, but for values that are not finite.
template <class S>
void load_params(const safetensors::Archive& archive, const ParamTable& table, std::span<S> params,
                 std::string_view prefix = "");

}  // namespace headroom
