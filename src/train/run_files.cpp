#include "train/run_files.h"

#include <cmath>
#include <string>

#include "train/evaluate.h"

namespace headroom {

RunFiles::RunFiles(const std::filesystem::path& folder, const Task& task, bool evaluates)
    : folder_(folder),
      train_columns_(columns_of("train.csv", task.train_columns())),
      eval_columns_(columns_of("eval.csv", task.metric_names())),
      position_columns_(columns_of("eval_positions.csv")),
      train_(folder / "train.csv") {
  train_.append(csv_header(train_columns_));
  if (!evaluates) return;
  eval_.emplace(folder / "eval.csv");
  eval_->append(csv_header(eval_columns_));
  if (task.position_scale() > 0) {
    positions_.emplace(folder / "eval_positions.csv");
    positions_->append(csv_header(position_columns_));
  }
}

void RunFiles::train_row(const TrainRow& row, const std::vector<double>& task_values) {
  std::vector<double> values{static_cast<double>(row.step),
                             row.loss,
                             row.lr,
                             row.grad_norm,
                             static_cast<double>(row.tokens),
                             std::round(row.elapsed_s * 1e3) / 1e3};
  values.insert(values.end(), task_values.begin(), task_values.end());
  train_.append(csv_row(train_columns_, values));
}

void RunFiles::eval_row(std::uint64_t step, const Score& score) {
  std::vector<double> values{static_cast<double>(step), score.loss.mean, score.loss.sem};
  for (const Mean& metric : score.metrics) values.push_back(metric.mean);
  eval_->append(csv_row(eval_columns_, values));
  if (!positions_) return;
  for (std::size_t k = 0; k < score.positions.size(); ++k) {
    const double row[] = {static_cast<double>(step), static_cast<double>(k),
                          score.positions[k].mean, score.positions[k].sem};
    positions_->append(csv_row(position_columns_, row));
  }
}

void RunFiles::write_baselines(const std::vector<BaselineScore>& scores) const {
  std::string text;
  for (const std::string& line : baseline_rows(scores)) text += line + "\n";
  write_file_atomically(folder_ / "baselines.csv", text);
}

}  // namespace headroom
