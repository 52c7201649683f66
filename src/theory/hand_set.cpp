#include "theory/hand_set.h"

#include <algorithm>
#include <cassert>
#include <stdexcept>

namespace headroom {

HandSet::HandSet(const ParamTable& table, std::span<float> params)
    : table_(table), params_(params), set_(table.rows().size(), false) {
  assert(params.size() == table.size());
}

std::span<float> HandSet::take(const std::string& name, const ParamRow*& row) {
  row = table_.find(name);
  if (row == nullptr) throw std::logic_error("the model has no parameter '" + name + "'");
  const auto index = static_cast<std::size_t>(row - table_.rows().data());
  if (set_[index]) throw std::logic_error("parameter '" + name + "' is set twice");
  set_[index] = true;
  return params_.subspan(row->offset, row->size);
}

void HandSet::identity(const std::string& name, double scale) {
  const ParamRow* row = nullptr;
  const std::span<float> values = take(name, row);
  if (row->shape.size() != 2 || row->shape[0] != row->shape[1]) {
    throw std::logic_error("parameter '" + name + "' is no square matrix");
  }
  std::fill(values.begin(), values.end(), 0.0f);
  const std::size_t n = row->shape[0];
  for (std::size_t i = 0; i < n; ++i) values[i * n + i] = static_cast<float>(scale);
}

void HandSet::values(const std::string& name, std::span<const double> given) {
  const ParamRow* row = nullptr;
  const std::span<float> values = take(name, row);
  if (given.size() != values.size())
    throw std::logic_error("parameter '" + name + "' has another size");
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(given[i]);
}

void HandSet::fill(const std::string& name, double value) {
  const ParamRow* row = nullptr;
  const std::span<float> values = take(name, row);
  std::fill(values.begin(), values.end(), static_cast<float>(value));
}

void HandSet::finish() const {
  for (std::size_t i = 0; i < set_.size(); ++i) {
    if (!set_[i]) {
      throw std::logic_error("parameter '" + table_.rows()[i].name + "' has not been set");
    }
  }
}

}  // namespace headroom
