// Does backward compute the gradient? Each parameter tensor is tried entry by entry against the
// complex-step derivative (Squire and Trapp 1998), which has no cancellation: Im loss(p + i h) / h
// with h = 1e-30.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/prediction.h"
#include "model/model.h"

namespace headroom {

struct GradientCheck {
  std::string name;
  std::size_t entries = 0;  // how many were tried
  double largest = 0;       // |gradient| over the tensor
  // |backward - complex step| / max(the sum of the absolute shares, 1e-3 tensor, 1e-6 model
  // largest)
  double worst_error = 0;
};

struct GradientCheckPlan {
  std::size_t batch = 2, tokens = 8, entries_per_tensor = 20;
  // Entries moved together, by random amounts: one forward pass then holds the sum of their
  // gradients by those amounts against backward's. 1: each entry alone.
  std::size_t entries_per_forward = 1;
  ReadAt read_at;  // where predictions are read: at as many tokens as there are
  LossType loss = LossType::kSquared;
  std::uint64_t seed = 0;
};

// A smaller model with the same head shapes: at most 2 layers and 64 hidden units, and sequences of
// io.tokens <= 8.
ModelConfig shrunk_twin(const ModelConfig& config, ModelIo& io);

// Random parameters, inputs and targets (signs for the logistic loss). One row a tensor, in table
// order.
std::vector<GradientCheck> check_gradients(const ModelConfig& config, const ModelIo& io,
                                           const GradientCheckPlan& plan);

}  // namespace headroom
