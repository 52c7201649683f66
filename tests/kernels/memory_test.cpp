// Kernels called for ever with ever other lengths take no more memory.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "core/arena.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "kernels/attention_softmax.h"
#include "kernels/linear.h"
#include "kernels/matmul.h"

namespace headroom::memory_test {

double resident_bytes() {
  double total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

TEST(KernelMemory, ManyLengthsTakeNoMore) {
  constexpr std::size_t kLongest = 48, kHeads = 3, kSize = 4, kWidth = kHeads * kSize;
  set_threads(2);
  Arena<float> arena(1 << 17);
  Random random(3, Purpose::kTest, 0, 0);
  double early = 0;
  std::size_t primitives = 0;
  for (int call = 0; call < 20'000; ++call) {
    arena.rewind(0);
    const AttentionShape shape{.batch = 1,
                               .queries = 1 + random.below(kLongest),
                               .keys = 1 + random.below(kLongest),
                               .heads = kHeads,
                               .key_size = kSize,
                               .value_size = kSize};
    const auto rows = [&](std::size_t n) {
      const View<float, 2> view = arena.take(n, kWidth);
      view.data[random.below(static_cast<std::uint32_t>(view.size()))] = 1;
      return view;
    };
    const View<float, 2> q = rows(shape.queries), k = rows(shape.keys), v = rows(shape.keys),
                         z = rows(shape.queries), dq = rows(shape.queries), dk = rows(shape.keys),
                         dv = rows(shape.keys), y = rows(shape.queries), w = rows(kWidth);
    const View<float, 4> stats = arena.take(1, kHeads, 2, shape.queries);
    const View<float, 2> scratch =
        arena.take(static_cast<std::size_t>(threads()), kernels::attention_scratch(shape));
    const auto in = [](View<float, 2> view) {
      return Matrix<const float>(View<const float, 2>(view));
    };
    kernels::attention_forward(z, stats, in(q), in(k), in(v), shape, scratch);
    kernels::attention_backward(dq, dk, dv, in(z), stats, in(q), in(k), in(v), shape, scratch);
    kernels::linear_forward(y, in(z), w, {}, 1);
    if (call == 2000) {
      early = resident_bytes();
      primitives = kernels::primitives_made();
    }
  }
  set_threads(default_threads().threads);
  EXPECT_GT(early, 1e6);
  EXPECT_LE(resident_bytes(), 1.1 * early);
  // Every length has been seen by then.
  EXPECT_EQ(kernels::primitives_made(), primitives);
}

}  // namespace headroom::memory_test
