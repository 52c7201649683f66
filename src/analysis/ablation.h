// What each head is worth: the held-out loss without it (Michel, Levy, Neubig 2019).
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "model/transformer.h"
#include "tasks/score.h"

namespace headroom {

// Adds up the losses with and without each head, batch by batch.
class Ablation {
 public:
  explicit Ablation(const Task& task);  // must outlive this

  // The items whose forward was the model's last; its layers are computed again. predictions
  // (B,P,O) is scratch. False as soon as `stop` says true: then the result is worthless.
  bool add(Model<float>& model, const Batch& items, View<float, 3> predictions,
           View<const float, 3> output, const std::function<bool()>& stop);

  Mean loss() const;  // of the whole model on these items
  // Loss without the head minus loss with it, by attention layer and (c h); the standard error is
  // that of the differences.
  std::vector<std::vector<Mean>> deltas() const;

 private:
  std::vector<double> losses(const Batch& items, View<float, 3> predictions,
                             View<const float, 3> output) const;

  const Task& task_;
  ScoreSheet sheet_;
  std::vector<double> whole_;                             // (items)
  std::vector<std::vector<std::vector<double>>> deltas_;  // (sites)(c h)(items)
};

}  // namespace headroom
