#include "train/metrics.h"

#include <cassert>
#include <cmath>
#include <cstdint>

#include "core/numbers.h"

namespace headroom {
namespace {

constexpr const char* kTrain = "train.csv";
constexpr const char* kEval = "eval.csv";
constexpr const char* kPositions = "eval_positions.csv";
constexpr const char* kBaselines = "baselines.csv";

constexpr Metric kMetrics[] = {
    {.name = "step",
     .file = kTrain,
     .unit = "updates",
     .sentence = "Updates done so far.",
     .whole = true},
    {.name = "loss",
     .file = kTrain,
     .unit = "",
     .sentence = "Mean training loss of the updates since the last row.",
     .better = Better::kLower},
    {.name = "lr", .file = kTrain, .unit = "", .sentence = "Learning rate of this row's update."},
    {.name = "grad_norm",
     .file = kTrain,
     .unit = "",
     .sentence =
         "Euclidean norm of the whole averaged gradient of this row's update, before clipping."},
    {.name = "tokens",
     .file = kTrain,
     .unit = "tokens",
     .sentence =
         "Tokens trained on since the start, query tokens included: batch times tokens of a "
         "sequence, summed.",
     .whole = true},
    {.name = "elapsed_s",
     .file = kTrain,
     .unit = "s",
     .sentence = "Time spent on the run so far, evaluations and checkpoints included, summed over "
                 "resumes."},
    {.name = "dims",
     .file = kTrain,
     .unit = "coordinates",
     .sentence = "The curriculum's stage: coordinates of x that are non-zero.",
     .whole = true,
     .always = false},
    {.name = "points",
     .file = kTrain,
     .unit = "points",
     .sentence = "The curriculum's stage: points of a sequence.",
     .whole = true,
     .always = false},

    {.name = "step",
     .file = kEval,
     .unit = "updates",
     .sentence = "Updates done when the model was evaluated.",
     .whole = true},
    {.name = "loss",
     .file = kEval,
     .unit = "",
     .sentence = "Mean loss over the held-out items, the same items at every step.",
     .better = Better::kLower},
    {.name = "loss_sem",
     .file = kEval,
     .unit = "",
     .sentence = "Standard error of that mean over items; nan for fewer than two."},
    {.name = "accuracy",
     .file = kEval,
     .unit = "",
     .sentence = "Share of predictions that are right: to which the wanted point (or "
                 "difference) is the nearest of all, or that have the wanted sign.",
     .always = false,
     .better = Better::kHigher},
    {.name = "kl",
     .file = kEval,
     .unit = "nats",
     .sentence = "Mean over tokens of the divergence sum_j P_j log(P_j / W_j) of the given pattern "
                 "P from the weights W that the output holds.",
     .always = false,
     .better = Better::kLower},
    {.name = "normalized_loss",
     .file = kEval,
     .unit = "",
     .sentence = "Loss divided by that of predicting 0 where there is no noise.",
     .always = false,
     .better = Better::kLower},
    {.name = "excess_loss",
     .file = kEval,
     .unit = "",
     .sentence = "Loss divided by the sum over positions of max(dims - k, 0), what least squares "
                 "leaves of y without noise, plus task.noise^2, a floor: a mean over items.",
     .always = false,
     .better = Better::kLower},

    {.name = "step",
     .file = kPositions,
     .unit = "updates",
     .sentence = "Updates done when the model was evaluated.",
     .whole = true},
    {.name = "position",
     .file = kPositions,
     .unit = "examples",
     .sentence = "Examples the prediction has seen, from 0.",
     .whole = true},
    {.name = "error",
     .file = kPositions,
     .unit = "",
     .sentence = "Mean squared error at this position, divided by the error of predicting 0 "
                 "(linear: by d); of signs the share that is wrong."},
    {.name = "error_sem",
     .file = kPositions,
     .unit = "",
     .sentence = "Standard error of that mean over items."},

    {.name = "baseline",
     .file = kBaselines,
     .unit = "",
     .sentence = "Name of a predictor that is no neural network."},
    {.name = "position",
     .file = kBaselines,
     .unit = "examples",
     .sentence = "Examples the prediction has seen, from 0; empty where the task has no positions.",
     .whole = true},
    {.name = "error",
     .file = kBaselines,
     .unit = "",
     .sentence =
         "Its mean squared error at this position on the items of eval.csv, on the same scale."},
    {.name = "error_sem",
     .file = kBaselines,
     .unit = "",
     .sentence = "Standard error of that mean over items."},
};

}  // namespace

std::span<const Metric> metrics() { return kMetrics; }

const Metric* find_metric(std::string_view file, std::string_view name) {
  for (const Metric& m : kMetrics) {
    if (file == m.file && name == m.name) return &m;
  }
  return nullptr;
}

std::vector<const Metric*> columns_of(std::string_view file,
                                      std::span<const std::string> task_columns) {
  std::vector<const Metric*> columns;
  for (const Metric& m : kMetrics) {
    if (file == m.file && m.always) columns.push_back(&m);
  }
  for (const std::string& name : task_columns) {
    const Metric* const m = find_metric(file, name);
    assert(m != nullptr && "each column of a task has its row in the table");
    columns.push_back(m);
  }
  return columns;
}

std::string csv_header(std::span<const Metric* const> columns) {
  std::string line;
  for (const Metric* m : columns) {
    if (!line.empty()) line += ',';
    line += m->name;
  }
  return line;
}

std::string csv_row(std::span<const Metric* const> columns, std::span<const double> values) {
  assert(columns.size() == values.size());
  std::string line;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) line += ',';
    line += columns[i]->whole ? std::to_string(static_cast<std::uint64_t>(values[i]))
                              : real_text(values[i]);
  }
  return line;
}

}  // namespace headroom
