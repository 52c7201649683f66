// One update: the gradient of a batch, its checks, clipping and the optimizer's step. Written once
// for training (float) and for `headroom step` (float or double).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/arena.h"
#include "core/view.h"
#include "model/model.h"
#include "tasks/task.h"
#include "train/gradient.h"
#include "train/optimizer.h"
#include "train/train_config.h"

namespace headroom {

// `batch` items in config.accumulate equal parts; throws Error(kUsage) where that does not divide.
std::size_t items_per_part(const TrainConfig& config, std::size_t batch);

template <class S>
class Updater {
 public:
  // The model must take `batch` / config.accumulate items; throws Error(kUsage) where that does not
  // divide.
  Updater(Model<S>& model, const TrainConfig& config, const ModelIo& io, std::size_t batch);

  // Sets model.grads() to the gradient of the batch's mean loss, 0 for frozen parameters, and
  // returns that loss: the sum over coordinates, averaged over items and predictions (science A.1,
  // D.1). The batch runs in config.accumulate equal parts, in order.
  // `output`, (B,T,O) or with queries (B,Q,O), is filled unless it is empty.
  double gradient(const Batch& batch, View<S, 3> output = {});

  // Update t (from 1) with that gradient. Returns the gradient's norm before clipping.
  // Throws Error(kDiverged) with t and the first bad tensor, parameters and moments untouched, if
  // the loss or the norm is not finite or the second moment would overflow; if only the new
  // parameters are not finite it throws too, but these are then lost.
  double apply(std::uint64_t t, double loss, double rate);

  Optimizer<S>& optimizer() { return optimizer_; }
  const Optimizer<S>& optimizer() const { return optimizer_; }

 private:
  double part_gradient(View<const S, 3> input, View<const S, 3> query, const Batch& items,
                       double scale, View<S, 3> output);
  [[noreturn]] void refuse(std::uint64_t t, double loss, const GradientSize& size);

  Model<S>& model_;
  std::size_t batch_, parts_;
  double clip_norm_;          // infinity: none
  std::vector<bool> frozen_;  // by row of the table
  Optimizer<S> optimizer_;
  GradientMeter<S> meter_;
  Arena<S> memory_;
  View<S, 3> input_, query_;  // (B/n,T,D), (B/n,Q,D); where S is not float
  View<S, 3> doutput_;        // (B/n,T,O) or (B/n,Q,O)
};

extern template class Updater<float>;
extern template class Updater<double>;

}  // namespace headroom
