// The same run on 1, 2, 3 and 8 threads leaves the same bytes in every file. Each parallel loop of
// a step has at least 16 tiles to hand out in one of the shapes (the sum over slices never has more
// than 8): loops over rows where there are many rows, loops over columns where they are wide, and a
// model small enough to go through its batch in slices.
#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>

#include "core/parallel.h"
#include "loop_fixture.h"
#include "train/compare_runs.h"

namespace headroom::many_tiles_test {

struct Shape {
  const char* name;
  std::size_t width, heads, key_size, value_size, batch;
  bool mixes, bfloat16 = false;
};
std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.name; }

constexpr Shape kShapes[]{{"rows", 192, 4, 48, 48, 136, false},
                          {"rows_talking", 192, 4, 48, 48, 136, true},
                          {"columns", 1024, 16, 64, 4, 16, false},
                          {"columns_talking", 1024, 16, 64, 4, 16, true},
                          {"slices", 64, 4, 16, 16, 256, false},
                          {"slices_talking", 64, 4, 16, 16, 256, true},
                          {"rows_bfloat16", 192, 4, 48, 48, 136, false, true},
                          {"rows_talking_bfloat16", 192, 4, 48, 48, 136, true, true},
                          {"columns_bfloat16", 1024, 16, 64, 4, 16, false, true},
                          {"columns_talking_bfloat16", 1024, 16, 64, 4, 16, true, true},
                          {"slices_bfloat16", 64, 4, 16, 16, 256, false, true},
                          {"slices_talking_bfloat16", 64, 4, 16, 16, 256, true, true}};

class ManyTiles : public LoopTest, public testing::WithParamInterface<Shape> {
 protected:
  ManyTiles() : LoopTest(quick_parent()) {}

  static TrainJob job(const Shape& shape, const fs::path& out) {
    TrainJob job = small_job(out);
    job.task = {};
    job.task.type = TaskType::kLinearRegression;
    job.task.dim = 4;
    job.task.points = 16;
    job.model.width = shape.width;
    job.model.norm.type = NormType::kLayerNorm;
    job.model.norm.placement = NormPlacement::kPre;
    job.model.positions.type = PositionsType::kLearned;
    AttentionConfig& attention = job.model.attention;
    attention.heads = shape.heads;
    attention.key_size = shape.key_size;
    attention.value_size = shape.value_size;
    attention.mask = Mask::kCausal;
    if (shape.mixes) attention.mix_scores = attention.mix_weights = MixInit::kIdentity;
    job.model.ffn.width = 64;
    if (shape.bfloat16) job.train.precision = Precision::kBfloat16;
    job.train.steps = 1;
    job.train.schedule.warmup = 0;
    job.train.batch = shape.batch;
    job.eval.items = shape.batch;
    job.eval.baselines = {"zero"};
    return job;
  }

  EmulatedBfloat16 emulated_;
};

TEST_P(ManyTiles, AnyNumberOfThreadsLeavesTheSameFiles) {
  const int before = threads();
  const fs::path first = folder / "1", other = folder / "other";
  for (const int n : {1, 2, 3, 8}) {
    set_threads(n);
    train(job(GetParam(), n == 1 ? first : other));
    if (n == 1) continue;
    const RunComparison found = compare_runs(first, other);
    EXPECT_EQ(found.difference, "") << n << " threads";
    EXPECT_GE(found.files, 8u);
    fs::remove_all(other);
  }
  set_threads(before);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ManyTiles, testing::ValuesIn(kShapes),
                         [](const auto& shape) { return std::string(shape.param.name); });

}  // namespace headroom::many_tiles_test
