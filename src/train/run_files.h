// The CSV files of a run. A row is on disk when its function returns.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
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

// Which rows of an earlier process stand before the checkpoint that a run continues from.
struct RowsToKeep {
  std::uint64_t step = 0;                   // rows up to this one
  bool evaluated = false;                   // with the evaluation at that step itself
  std::optional<std::uint64_t> except_row;  // of train.csv: an earlier end off the beat
};

class RunFiles {
 public:
  // Creates train.csv and, with `evaluates`, eval.csv and (in-context tasks) eval_positions.csv,
  // each with its header. With `keep` the files that are there are cut back to these rows, a torn
  // last one included, and continued. Every function throws Error(kFile) with the path, the
  // constructor Error(kCorrupt) for a file that holds something else.
  RunFiles(const std::filesystem::path& folder, const Task& task, bool evaluates,
           const std::optional<RowsToKeep>& keep = {});

  void train_row(const TrainRow& row, const std::vector<double>& task_values);
  void eval_row(std::uint64_t step, const Score& score);
  void write_baselines(const std::vector<BaselineScore>& scores) const;  // baselines.csv
  bool has_baselines() const;
  void sync();  // the rows so far survive a power cut

  const std::vector<std::string>& absent() const { return absent_; }  // files that were not there
  double kept_elapsed_s() const { return kept_elapsed_s_; }  // of the last row kept; 0: none

 private:
  LineFile open(const std::string& name, const std::vector<const Metric*>& columns,
                const std::function<bool(std::uint64_t)>& keeps);

  std::filesystem::path folder_;
  std::vector<const Metric*> train_columns_, eval_columns_, position_columns_;
  std::optional<LineFile> train_, eval_, positions_;
  std::vector<std::string> absent_;
  double kept_elapsed_s_ = 0;
};

}  // namespace headroom
