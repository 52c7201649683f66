// Parameters that decay to nothing must not pass through the slow numbers below 1e-38, in any
// worker. Their speed is a matter for `headroom bench`; whether there are any is seen exactly.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/parallel.h"
#include "model/model.h"
#include "tasks/tasks.h"
#include "train/evaluate.h"
#include "train/small_job.h"
#include "train/update.h"

namespace headroom::denormal_test {

std::size_t denormals(std::span<const float> values) {
  // By exponent and mantissa: comparing would flush them.
  return static_cast<std::size_t>(std::count_if(
      values.begin(), values.end(), [](float x) { return std::fpclassify(x) == FP_SUBNORMAL; }));
}

TEST(Denormals, AStrongDecayLeavesNone) {
  flush_denormals();
  flush_denormals();
  const int before = threads();
  set_threads(3);
  TrainJob job = small_job("unused");
  job.model.width = 16;
  job.model.read_in = ReadIn::kLinear;
  job.model.read_out = ReadOut::kLinear;
  job.model.norm.type = NormType::kNone;
  job.model.ffn.width = 32;
  job.train.optimizer = {.type = OptimizerType::kAdamW, .lr = 0.5, .weight_decay = 0.4};
  const std::unique_ptr<Task> task = make_task(job.task);
  const ModelIo io = model_io(*task);
  constexpr std::size_t kBatch = 8, kUpdates = 1600;
  Model<float> model(resolve(job.model, io), io, kBatch);
  init_params(model.table(), 0, model.params());
  Updater<float> updater(model, job.train, io, kBatch);
  OwnedBatch batch;
  batch.shape(task->shape(), kBatch);
  // The answers are 0 and so in the end is the gradient: Adam steps of .92^t carry the parameters
  // through all of the denormals to 0, products and moments before them.
  std::size_t vanished = 0;
  for (std::uint64_t t = 1; t <= kUpdates; ++t) {
    sample_batch(*task, 0, Purpose::kTrain, t, 0, task->stage(t), batch.views);
    std::fill_n(batch.views.target.data, batch.views.target.size(), 0.0f);
    updater.apply(t, updater.gradient(batch.views), 0.5);
    ASSERT_EQ(denormals(model.params().flat()), 0u) << "update " << t;
    ASSERT_EQ(denormals(model.grads().flat()), 0u) << "update " << t;
    ASSERT_EQ(denormals(updater.optimizer().m()), 0u) << "update " << t;
    ASSERT_EQ(denormals(updater.optimizer().v()), 0u) << "update " << t;
  }
  for (const float x : model.params().flat()) vanished += x == 0 ? 1 : 0;
  EXPECT_GT(vanished, model.params().size() / 4);  // the run went where it was to go
  set_threads(before);
}

}  // namespace headroom::denormal_test
