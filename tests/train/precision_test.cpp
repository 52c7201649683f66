// Training whose products take bfloat16 operands, emulated where the CPU has none.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "kernels/bfloat16.h"
#include "kernels/matmul.h"
#include "loop_fixture.h"
#include "train/compare_runs.h"

namespace headroom::precision_test {

class PrecisionTest : public LoopTest {
 protected:
  PrecisionTest() : LoopTest(quick_parent()) {}

  static TrainJob job(Precision precision, const fs::path& out) {
    TrainJob job = small_job(out);
    job.task.dim = 8;
    job.model.width = 8;
    job.model.attention.heads = 2;
    job.train.precision = precision;
    job.train.steps = 100;
    job.train.optimizer.lr = 1e-4;
    job.train.schedule.type = ScheduleType::kConstant;
    job.train.schedule.warmup = 0;
    job.eval.every = 100;
    job.run.checkpoint_every = 100;
    return job;
  }

  EmulatedBfloat16 emulated_;
};

// The checkpoint holds float32 parameters, moved as float32 training moves them: of 100 updates of
// at most 1e-4 bfloat16 parameters would keep none, for a half of their last place is larger.
TEST_F(PrecisionTest, Bfloat16KeepsFloat32Masters) {
  train(job(Precision::kFloat32, folder / "float32"));
  train(job(Precision::kBfloat16, folder / "bfloat16"));
  TrainJob untrained = job(Precision::kFloat32, folder / "untrained");
  untrained.train.steps = 0;
  train(untrained);
  const auto start = last_params(folder / "untrained"), exact = last_params(folder / "float32"),
             rounded = last_params(folder / "bfloat16");
  double moved = 0, apart = 0;
  std::size_t n_fine = 0, n = 0;
  for (const auto& [name, values] : exact) {
    for (std::size_t i = 0; i < values.size(); ++i, ++n) {
      const double other = rounded.at(name)[i];
      moved += std::pow(values[i] - start.at(name)[i], 2);
      apart += std::pow(values[i] - other, 2);
      const float single = static_cast<float>(other);
      n_fine += kernels::from_bfloat16(kernels::to_bfloat16(single)) != single;
    }
  }
  EXPECT_GT(n_fine, n / 2) << "of " << n << " more than bfloat16 can hold";
  EXPECT_GT(apart, 0) << "it was float32";
  EXPECT_LT(std::sqrt(apart / moved), .1);
}

TEST_F(PrecisionTest, ResumesBitForBit) {
  TrainJob whole = job(Precision::kBfloat16, folder / "whole");
  whole.train.steps = 9;
  train(whole);
  TrainJob part = job(Precision::kBfloat16, folder / "part");
  part.train.steps = 9;
  part.stop_after = [](std::uint64_t step) { return step == 4; };
  EXPECT_EQ(train(part).exit, Exit::kStopped);
  clear_stop_signal();
  part.stop_after = nullptr;
  part.resume = {.steps = 9, .log_every = part.run.log_every};
  train(part);
  EXPECT_EQ(compare_runs(folder / "whole", folder / "part").difference, "");
}

TEST_F(PrecisionTest, IsRefusedWhereTheCpuLacksIt) {
  ::unsetenv("HEADROOM_EMULATE_BFLOAT16");
  EXPECT_EQ(chosen(Precision::kAuto),
            kernels::has_bfloat16() ? Precision::kBfloat16 : Precision::kFloat32);
  if (kernels::has_bfloat16()) {
    EXPECT_NO_THROW(use_precision(Precision::kBfloat16));
  } else {
    const Error error = failure(job(Precision::kBfloat16, folder / "a"));
    EXPECT_EQ(error.code(), Exit::kUsage);
    EXPECT_NE(std::string(error.what()).find("AVX-512 BF16"), std::string::npos) << error.what();
  }
}

}  // namespace headroom::precision_test
