#include "core/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace headroom::hash_test {

TEST(Hash64, KnownAnswers) {
  // From the reference implementation, seed 0.
  EXPECT_EQ(hash64(""), 0xEF46DB3751D8E999u);
  EXPECT_EQ(hash64("a"), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(hash64("abc"), 0x44BC2CF5AD770999u);
  EXPECT_EQ(hash64("Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1u);
}

TEST(Hash64, DoesNotDependOnTheCut) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += static_cast<char>(i * 37);
  for (std::size_t n = 0; n <= text.size(); ++n)
    for (const std::size_t cut : {n / 3, n / 2, n}) {
      Hash64 pieces;
      pieces.add(std::string_view(text).substr(0, cut));
      pieces.add(std::string_view(text).substr(cut, n - cut));
      ASSERT_EQ(pieces.digest(), hash64(std::string_view(text).substr(0, n)))
          << n << " cut at " << cut;
    }
}

TEST(Hash64, EveryByteCounts) {
  const std::string text(100, 'x');
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = 'y';
    EXPECT_NE(hash64(other), hash64(text)) << i;
  }
}

}  // namespace headroom::hash_test
