// Every column of a run's CSV files, in one table: their headers and `describe metrics` come from
// it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

enum class Better { kLower, kHigher, kNeither };

struct Metric {
  const char* name;
  const char* file;  // "train.csv", ...
  const char* unit;  // "" for pure numbers
  const char* sentence;
  bool whole = false;  // printed as a whole number
  bool always = true;  // false: only for tasks that have it, after the columns all tasks have
  Better better = Better::kNeither;  // the direction eval.best_metric looks for
};

std::span<const Metric> metrics();
const Metric* find_metric(std::string_view file,
                          std::string_view name);  // nullptr if there is none

// The columns of a file: the table's rows that all tasks have, in order, then these task columns,
// each of which must be in the table.
std::vector<const Metric*> columns_of(std::string_view file,
                                      std::span<const std::string> task_columns = {});
std::string csv_header(std::span<const Metric* const> columns);
// One row; values in the order of the columns.
std::string csv_row(std::span<const Metric* const> columns, std::span<const double> values);

}  // namespace headroom
