// Predictors that are no trained transformer, evaluated on exactly the model's held-out stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/view.h"
#include "tasks/score.h"
#include "tasks/task.h"

namespace headroom {

using Stop = std::function<bool()>;  // asked now and then, from any thread; may be empty

class Baseline {
 public:
  virtual ~Baseline() = default;
  // One item: input (T,D), query (Q,D), empty without queries -> output (P,O), written whole. In
  // context P may be less than the prompt's points: then the last P positions are asked.
  // `item` is its number in the stream, for predictors that draw. Several threads may call this at
  // once; it must not throw. After a stop the output may be anything.
  virtual void predict(std::size_t item, View<const float, 2> input, View<const float, 2> query,
                       View<float, 2> output) const = 0;
};

// What a maker sees. Fits use the stream (seed, Purpose::kBaseline), never the held-out one.
struct BaselineSetting {
  const Task& task;
  std::uint64_t seed = 0;
  double value = 0;  // of the row's parameter
  Stop stop;
};

enum class Cost { kQuick, kSlow };  // slow: minutes for 1280 prompts; only where asked for

// A row of the table of baselines (baselines.cpp), in the order in which they are reported. With a
// parameter a row stands for many names: "ridge" for ridge_0.1, ridge_1, ...
struct BaselineRow {
  const char* name;
  const char* sentence;
  bool (*serves)(TaskType task);
  // nullptr once stopped. The task may be gone afterwards.
  std::unique_ptr<Baseline> (*make)(const BaselineSetting& setting);
  Cost cost = Cost::kQuick;
  const char* parameter = "";           // what follows name_, in capitals; "": nothing
  bool counts = false;                  // the parameter is a whole number
  double most = 1e6;                    // and at most this, and above 0
  std::span<const double> values = {};  // of the parameter, in the sets `default` and `all`
  // A model whose loss is not below this one's has learned nothing that needs learning.
  bool reference = false;
};
std::span<const BaselineRow> baseline_rows();

// One predictor of the table for a task.
struct BaselineChoice {
  const BaselineRow* row = nullptr;
  double value = 0;
  std::string name() const;  // "ridge_0.1"
};

// The predictors of this task that `names` asks for, each once: "default" is every quick row, "all"
// every row, else single ones, any number as their parameter. The row that tells whether a model
// has learned anything is always among them. Throws Error(kUsage) for a name that is none of this
// task's, with the nearest and what there is, behind `where`.
std::vector<BaselineChoice> choose_baselines(TaskType task, std::span<const std::string> names,
                                             const std::string& where = "");
std::optional<BaselineChoice> reference_baseline(TaskType task);  // none: the task has none

struct BaselineOptions {
  std::vector<std::string> names{"default"};
  Stop stop = {};
  bool intervals = false;  // bootstrap intervals beside the standard errors
};

// A predictor that is ready: fitted where it has something to fit, on data of (seed, kBaseline) at
// the task's final stage. The task may be gone afterwards.
struct FittedBaseline {
  BaselineChoice choice;
  std::unique_ptr<Baseline> predictor;
};
// Nothing once `stop` says true. Throws as choose_baselines does.
std::optional<std::vector<FittedBaseline>> fit_baselines(const Task& task, std::uint64_t seed,
                                                         const BaselineOptions& options = {});

struct BaselineScore {
  std::string name, sentence;
  Score score;
};
// Each on items 0 .. n_items-1 of stream (seed, kEval, 0) at the final stage of a task, which may
// be a shifted one of that it was fitted for; nothing once `stop` says true.
std::optional<std::vector<BaselineScore>> score_baselines(std::span<const FittedBaseline> baselines,
                                                          const Task& task, std::uint64_t seed,
                                                          std::size_t n_items,
                                                          const Stop& stop = {},
                                                          bool intervals = false);
// The same of several tasks, each item's predictions in a row (ScoreSheet).
std::optional<std::vector<BaselineScore>> score_baselines(std::span<const FittedBaseline> baselines,
                                                          std::span<const Task* const> prompts,
                                                          std::uint64_t seed, std::size_t n_items,
                                                          const Stop& stop = {},
                                                          bool intervals = false);
// The two in one go.
std::optional<std::vector<BaselineScore>> evaluate_baselines(const Task& task, std::uint64_t seed,
                                                             std::size_t n_items,
                                                             const BaselineOptions& options = {});

}  // namespace headroom
