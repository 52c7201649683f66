// One row a parameter tensor {name, shape, init, decay}: the table that drives size,
// initialisation, optimizer, checkpoint, gradient check and print. Parameters, gradients and both
// moments are flat vectors with this one layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/view.h"

namespace headroom {

// How a tensor starts: constant, U(-a, a), N(0, a^2), or a times the identity,
// once for each square block of rows as wide as the last dimension.
struct InitRule {
  enum class Kind { kConstant, kUniform, kNormal, kIdentity } kind = Kind::kConstant;
  double value = 0;
};

struct ParamRow {
  std::string name;
  std::vector<std::size_t> shape;
  InitRule init;
  bool decay = false;      // weight decay applies: matrices, not biases, norms or positions
  std::size_t offset = 0;  // into the flat vector
  std::size_t size = 0;
  std::size_t init_stream = 0;  // equal streams start equal (init_layers: identical)
};

class ParamTable {
 public:
  const std::vector<ParamRow>& rows() const { return rows_; }
  std::size_t size() const { return size_; }          // elements of the flat vector
  const ParamRow* find(std::string_view name) const;  // nullptr if there is none
  void add(ParamRow row);                             // sets offset and size
 private:
  std::vector<ParamRow> rows_;
  std::size_t size_ = 0;
};

// Fills `params` (laid out by `table`) from the streams (seed, Purpose::kInit, row.init_stream).
void init_params(const ParamTable& table, std::uint64_t seed, View<float, 1> params);

}  // namespace headroom
