// Parameters set by hand, by name: a tensor that was renamed, reshaped or forgotten is an internal
// error, never a silent zero.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/params.h"

namespace headroom {

class HandSet {
 public:
  // params is laid out by the table; both must outlive this.
  HandSet(const ParamTable& table, std::span<float> params);

  // A square matrix becomes scale * I.
  void identity(const std::string& name, double scale);
  // The tensor becomes these values, row-major; as many as it has.
  void values(const std::string& name, std::span<const double> given);
  // Every entry becomes `value`.
  void fill(const std::string& name, double value);

  // Each of the functions throws std::logic_error with the tensor's name where it is not in the
  // table, has been set before or has no such shape; this one where any has not been set.
  void finish() const;

 private:
  std::span<float> take(const std::string& name, const ParamRow*& row);

  const ParamTable& table_;
  std::span<float> params_;
  std::vector<bool> set_;  // by row of the table
};

}  // namespace headroom
