// Where in the model's output predictions are read, and how they are judged.
#pragma once

#include <cstddef>

namespace headroom {

// Prediction p is read at token first + p * stride.
struct ReadAt {
  std::size_t first = 0, stride = 1;
  std::size_t token(std::size_t p) const { return first + p * stride; }
};

enum class LossType {
  kSquared,  // (output - target)^2
  kLogistic  // log(1 + exp(-target output)), the binary cross-entropy for targets -1 and 1
};

}  // namespace headroom
