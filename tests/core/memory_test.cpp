#include "core/memory.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "core/arena.h"
#include "core/expect_error.h"

namespace headroom::memory_test {

TEST(Memory, IsAskedBeforeItIsTaken) {
  const std::optional<double> available = available_memory_bytes();
  ASSERT_TRUE(available.has_value());
  EXPECT_GT(*available, 1e6);
  EXPECT_LT(*available, 1e15);
  require_memory(1e6, "a small thing", "nothing");
  expect_error([] { require_memory(2e15, "a large thing", "a smaller one needs less"); },
               {"a large thing needs 2000.0 TB of memory, ", " are available; a smaller one"});
  expect_error([] { Arena<float> arena(std::size_t{1} << 50); }, {"a buffer needs 4503.6 TB"});
}

TEST(Memory, SizesThatWrapAreRefused) {
  Arena<float> measure;
  measure.take(1u << 20, 1u << 20, 1u << 17);
  EXPECT_EQ(measure.used(), std::size_t{1} << 57);
  expect_error([&] { measure.take(1u << 20, 1u << 20, 1u << 20, 1u << 20); }, {"any machine"});
  expect_error(
      [&] {
        measure.take(1u << 20, 1u << 20, 1u << 18, 0u);
        measure.take(1u << 29, 1u << 29);
      },
      {"any machine"});
}

TEST(Memory, LargeArenasBeginAtALargePage) {
  for (const std::size_t n : {kLargePageBytes / sizeof(float), kLargePageBytes / sizeof(float) + 1})
    for (int again = 0; again < 3; ++again) {
      Arena<float> arena(n);
      const auto place = reinterpret_cast<std::uintptr_t>(arena.take(1).data);
      EXPECT_EQ(place % kLargePageBytes, 0u) << n;
    }
}

TEST(Memory, BytesAsPeopleWriteThem) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1000), "1.0 kB");
  EXPECT_EQ(bytes_text(1.25e9), "1.2 GB");
  EXPECT_EQ(bytes_text(1e20), "100000000.0 TB");
}

}  // namespace headroom::memory_test
