// The CSV files of a run. A row is on disk when its function returns.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "baselines/baseline.h"
#include "core/file.h"
#include "tasks/score.h"
#include "tasks/task.h"
#include "train/metrics.h"

namespace headroom {

struct TrainRow {
  std::uint64_t step = 0;
  double loss = 0, lr = 0, grad_norm = 0;
  std::uint64_t tokens = 0;
  double elapsed_s = 0;
};

class RunFiles {
 public:
  // Creates train.csv and, with `evaluates`, eval.csv and (in-context tasks) eval_positions.csv,
  // each with its header. Every function throws Error(kFile) with the path.
  RunFiles(const std::filesystem::path& folder, const Task& task, bool evaluates);

  void train_row(const TrainRow& row, const std::vector<double>& task_values);
  void eval_row(std::uint64_t step, const Score& score);
  void write_baselines(const std::vector<BaselineScore>& scores) const;  // baselines.csv

 private:
  std::filesystem::path folder_;
  std::vector<const Metric*> train_columns_, eval_columns_, position_columns_;
  LineFile train_;
  std::optional<LineFile> eval_, positions_;
};

}  // namespace headroom
