// Parameters that decay to nothing must not pass through the slow numbers below 1e-38.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.h"
#include "model/model.h"
#include "tasks/tasks.h"
#include "train/evaluate.h"
#include "train/small_job.h"
#include "train/update.h"

namespace headroom::denormal_test {

double cpu_s() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

TEST(Denormals, AStrongDecayDoesNotSlowDown) {
  flush_denormals();
  set_threads(1);
  TrainJob job = small_job("unused");
  job.model.width = 32;
  job.model.read_in = ReadIn::kLinear;
  job.model.read_out = ReadOut::kLinear;
  job.model.norm.type = NormType::kNone;
  job.model.ffn.width = 256;
  job.train.optimizer = {.type = OptimizerType::kAdamW, .lr = 0.5, .weight_decay = 0.4};
  const std::unique_ptr<Task> task = make_task(job.task);
  const ModelIo io = model_io(*task);
  constexpr std::size_t kBatch = 8, kUpdates = 700, kFirst = 100;
  Model<float> model(resolve(job.model, io), io, kBatch);
  init_params(model.table(), 0, model.params());
  Updater<float> updater(model, job.train, io, kBatch);
  OwnedBatch batch;
  batch.shape(task->shape(), kBatch);
  // Each parameter loses a fifth a step, the answers are 0 and so in the end is the gradient: from
  // 1 to 1e-38 in 400 steps, products and moments in half as many.
  std::vector<double> took;
  for (std::uint64_t t = 1; t <= kUpdates; ++t) {
    sample_batch(*task, 0, Purpose::kTrain, t, 0, task->stage(t), batch.views);
    std::fill_n(batch.views.target.data, batch.views.target.size(), 0.0f);
    const double begin = cpu_s();
    const double loss = updater.gradient(batch.views);
    updater.apply(t, loss, t < kFirst ? 1e-6 : 0.5);
    took.push_back(cpu_s() - begin);
  }
  set_threads(default_threads().threads);
  // The least of a hundred does not see what else the machine does.
  const auto least = [&](std::size_t first) {
    const auto from = took.begin() + static_cast<std::ptrdiff_t>(first);
    return *std::min_element(from, from + kFirst);
  };
  const double begin = least(0);
  for (std::size_t first = kFirst; first + kFirst <= kUpdates; first += kFirst)
    EXPECT_LE(least(first), 1.2 * begin) << "updates from " << first;
  for (const float x : model.params().flat())
    ASSERT_TRUE(x == 0 || std::abs(x) >= 1.17549435e-38f) << x;
}

}  // namespace headroom::denormal_test
