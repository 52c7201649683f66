#include "train/run_files.h"

#include <charconv>
#include <cmath>
#include <string>

#include "core/error.h"
#include "train/evaluate.h"

namespace headroom {

namespace {

constexpr std::uint64_t kMaxCsvBytes = std::uint64_t{1} << 34;
constexpr std::size_t kElapsedColumn = 5;  // of train.csv

// The header and the rows whose step `keeps` takes; `last` is the last of them.
std::string kept_rows(const std::filesystem::path& path, const std::string& text,
                      const std::string& header, const std::function<bool(std::uint64_t)>& keeps,
                      std::string& last) {
  std::string kept;
  std::size_t number = 0;
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string line = text.substr(at, end - at);
    const auto refuse = [&](const std::string& what) {
      throw Error(Exit::kCorrupt, path.string() + ": line " + std::to_string(number) + " " + what);
    };
    if (++number == 1) {
      if (line != header) refuse("is not the header '" + header + "' that this run continues");
      kept += line + '\n';
      continue;
    }
    std::uint64_t step = 0;
    const char* const stop = line.data() + line.size();
    const auto [comma, problem] = std::from_chars(line.data(), stop, step);
    if (problem != std::errc() || comma == stop || *comma != ',') refuse("begins with no step");
    if (!keeps(step)) continue;
    kept += line + '\n';
    last = line;
  }
  return kept;
}

double cell(const std::string& row, std::size_t column) {
  std::size_t at = 0;
  for (; column > 0 && at != std::string::npos; --column) at = row.find(',', at + 1);
  double value = 0;
  if (at != std::string::npos && at < row.size()) {
    std::from_chars(row.data() + at + 1, row.data() + row.size(), value);
  }
  return value;
}

}  // namespace

RunFiles::RunFiles(const std::filesystem::path& folder, const Task& task, bool evaluates,
                   const std::optional<RowsToKeep>& keep)
    : folder_(folder),
      train_columns_(columns_of("train.csv", task.train_columns())),
      eval_columns_(columns_of("eval.csv", task.metric_names())),
      position_columns_(columns_of("eval_positions.csv")) {
  const auto before = [&](std::uint64_t step) {
    return keep && step <= keep->step && (step < keep->step || keep->evaluated);
  };
  train_.emplace(open("train.csv", train_columns_, [&](std::uint64_t step) {
    return keep && step <= keep->step && step != keep->except_row;
  }));
  if (!evaluates) return;
  eval_.emplace(open("eval.csv", eval_columns_, before));
  if (task.position_scale() > 0) {
    positions_.emplace(open("eval_positions.csv", position_columns_, before));
  }
}

LineFile RunFiles::open(const std::string& name, const std::vector<const Metric*>& columns,
                        const std::function<bool(std::uint64_t)>& keeps) {
  const std::filesystem::path path = folder_ / name;
  const std::string header = csv_header(columns);
  const bool exists = std::filesystem::exists(path);
  if (!exists) absent_.push_back(name);
  const std::string text = exists ? read_file(path, kMaxCsvBytes) : "";
  std::string last;
  const std::string kept = kept_rows(path, text, header, keeps, last);
  if (kept.empty()) {  // a new file, or one whose process was killed before its header
    LineFile file(path);
    file.append(header);
    return file;
  }
  if (name == "train.csv" && !last.empty()) kept_elapsed_s_ = cell(last, kElapsedColumn);
  if (kept != text) write_file_atomically(path, kept);
  return LineFile(path, LineFile::Mode::kContinue);
}

void RunFiles::sync() {
  for (std::optional<LineFile>* const file : {&train_, &eval_, &positions_}) {
    if (*file) (*file)->sync();
  }
}

bool RunFiles::has_baselines() const { return std::filesystem::exists(folder_ / "baselines.csv"); }

void RunFiles::train_row(const TrainRow& row, const std::vector<double>& task_values) {
  std::vector<double> values{static_cast<double>(row.step),
                             row.loss,
                             row.lr,
                             row.grad_norm,
                             static_cast<double>(row.tokens),
                             std::round(row.elapsed_s * 1e3) / 1e3};
  values.insert(values.end(), task_values.begin(), task_values.end());
  train_->append(csv_row(train_columns_, values));
}

void RunFiles::eval_row(std::uint64_t step, const Score& score) {
  std::vector<double> values{static_cast<double>(step), score.loss.mean, score.loss.sem};
  for (const Mean& metric : score.metrics) values.push_back(metric.mean);
  eval_->append(csv_row(eval_columns_, values));
  if (!positions_) return;
  for (std::size_t k = 0; k < score.positions.size(); ++k) {
    const double row[] = {static_cast<double>(step), static_cast<double>(score.first_position + k),
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
