// What a run that diverged leaves behind: divergence.json, in which one can see what grew and from
// when, and read how to have that very update again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "model/model.h"
#include "tasks/task.h"

namespace headroom {

inline constexpr const char* kDivergenceFile = "divergence.json";  // in the run directory

struct RecentUpdate {
  std::uint64_t step = 0;
  double loss = 0, lr = 0, grad_norm = 0;  // of this update alone; grad_norm before clipping
};

// The last kKept updates, the oldest first.
class RecentUpdates {
 public:
  static constexpr std::size_t kKept = 50;
  void add(const RecentUpdate& update) { ring_[n_++ % kKept] = update; }
  bool empty() const { return n_ == 0; }
  RecentUpdate& last() { return ring_[(n_ - 1) % kKept]; }
  std::vector<RecentUpdate> rows() const;

 private:
  std::array<RecentUpdate, kKept> ring_{};
  std::size_t n_ = 0;
};

// The content of divergence.json: `what` and step; `again`, the command that takes the update
// again; the last good checkpoint ("": none); the recent updates; by layer the largest finite
// absolute values of parameters, gradients and (behind the layer, of a forward of `items`, where
// there are any) the residual stream; by tensor the same and how many entries of parameter and
// gradient are not finite. The model's gradients must be those of the update that went wrong.
json::Value divergence_value(std::uint64_t step, const std::string& what, const std::string& again,
                             const std::string& checkpoint, const RecentUpdates& recent,
                             Model<float>& model, const std::optional<Batch>& items);

}  // namespace headroom
