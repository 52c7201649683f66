// What is asked of a gradient before it is used: its size, and whether it is a number at all.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/params.h"

namespace headroom {

struct GradientSize {
  double norm = 0;     // Euclidean, over all entries
  double largest = 0;  // largest absolute entry; meaningless if norm is not finite
};

// Measures flat vectors of up to n entries. Squares are summed in double over fixed tiles in a
// fixed order: float entries of 1e19 stay finite and the thread count changes no bit.
template <class S>
class GradientMeter {
 public:
  explicit GradientMeter(std::size_t n);
  GradientSize measure(std::span<const S> gradient);

 private:
  struct Part {
    double squares, largest;
  };
  std::vector<Part> parts_;  // one a tile
};

// The factor that brings the norm down to clip_norm: clip_norm / (norm + 1e-6), at most 1, as
// torch.nn.utils.clip_grad_norm_ has it.
double clip_factor(double norm, double clip_norm);

// The name of the first tensor, in table order, that holds a NaN or an infinity; "" if all are
// finite.
template <class S>
std::string first_nonfinite(const ParamTable& table, std::span<const S> values);

// The name of the tensor that holds the largest absolute entry.
template <class S>
std::string largest_tensor(const ParamTable& table, std::span<const S> values);

}  // namespace headroom
