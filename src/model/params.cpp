#include "model/params.h"

#include <cassert>
#include <utility>

#include "core/rng.h"

namespace headroom {

const ParamRow* ParamTable::find(std::string_view name) const {
  for (const ParamRow& row : rows_)
    if (row.name == name) return &row;
  return nullptr;
}

void ParamTable::add(ParamRow row) {
  assert(find(row.name) == nullptr);
  row.offset = size_;
  row.size = 1;
  for (std::size_t d : row.shape) row.size *= d;
  size_ += row.size;
  rows_.push_back(std::move(row));
}

void init_params(const ParamTable& table, std::uint64_t seed, View<float, 1> params) {
  assert(params.size() == table.size());
  for (const ParamRow& row : table.rows()) {
    const std::span<float> values = params.flat().subspan(row.offset, row.size);
    Random random(seed, Purpose::kInit, row.init_stream, 0);
    const float a = static_cast<float>(row.init.value);
    switch (row.init.kind) {
      case InitRule::Kind::kConstant:
        for (float& x : values) x = a;
        break;
      case InitRule::Kind::kUniform:
        random.fill_uniform(values, -a, a);
        break;
      case InitRule::Kind::kNormal:
        random.fill_normal(values);
        for (float& x : values) x *= a;
        break;
      case InitRule::Kind::kIdentity: {
        const std::size_t n = row.shape.back();
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = i / n % n == i % n ? a : 0.0f;
        break;
      }
    }
  }
}

}  // namespace headroom
