#include "core/numbers.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <cstring>
#include <limits>

namespace headroom::numbers_test {

TEST(RealText, IsShortestAndNeverLooksWhole) {
  EXPECT_EQ(real_text(1), "1.0");
  EXPECT_EQ(real_text(-3), "-3.0");
  EXPECT_EQ(real_text(0.1), "0.1");
  EXPECT_EQ(real_text(1e-5), "1e-05");
  EXPECT_EQ(real_text(1e300), "1e+300");
  EXPECT_EQ(real_text(-0.0), "-0.0");
  EXPECT_EQ(real_text(std::nan("")), "nan");
  EXPECT_EQ(real_text(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(real_text(-std::numeric_limits<double>::infinity()), "-inf");
}

TEST(RealText, ReadsBackToTheSameBits) {
  std::uint64_t state = 88172645463325252ull;
  for (int i = 0; i < 20000; ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    double value;
    std::memcpy(&value, &state, sizeof value);
    if (!std::isfinite(value)) continue;
    const RealRead read = read_real(real_text(value));
    ASSERT_EQ(read.status, RealStatus::kOk) << real_text(value);
    ASSERT_EQ(std::memcmp(&read.value, &value, sizeof value), 0) << real_text(value);
  }
}

TEST(RealText, IgnoresTheLocale) {
  const std::string old = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "C.UTF-8"}) {
    if (std::setlocale(LC_ALL, name) != nullptr) break;
  }
  EXPECT_EQ(real_text(0.5), "0.5");
  EXPECT_EQ(read_real("0.5").value, 0.5);
  std::setlocale(LC_ALL, old.c_str());
}

TEST(ReadWhole, TakesWholeNumbersHoweverWritten) {
  const auto value = [](const char* text) {
    const WholeRead read = read_whole(text);
    EXPECT_EQ(read.status, WholeStatus::kOk) << text;
    return read.value;
  };
  EXPECT_EQ(value("0"), 0u);
  EXPECT_EQ(value("-0"), 0u);
  EXPECT_EQ(value("0e999999999999999999999"), 0u);
  EXPECT_EQ(value("17"), 17u);
  EXPECT_EQ(value("1e3"), 1000u);
  EXPECT_EQ(value("1E+3"), 1000u);
  EXPECT_EQ(value("10.0"), 10u);
  EXPECT_EQ(value("1.5e1"), 15u);
  EXPECT_EQ(value("1200e-2"), 12u);
  EXPECT_EQ(value("0.001e3"), 1u);
  EXPECT_EQ(value("9007199254740993"), 9007199254740993u);  // 2^53 + 1, which no double holds
  EXPECT_EQ(value("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
}

TEST(ReadWhole, RefusesTheRest) {
  for (const char* text :
       {"1.5", "1e-1", "0.1", "1e-999999999999999999999", "", "x", "1x", "1.5e0"}) {
    EXPECT_EQ(read_whole(text).status, WholeStatus::kNotWhole) << text;
  }
  for (const char* text :
       {"-1", "-1e3", "18446744073709551616", "1e20", "1e30", "1e999999999999999999999",
        "99999999999999999999", "184467440737095516150"}) {
    EXPECT_EQ(read_whole(text).status, WholeStatus::kOutOfRange) << text;
  }
}

TEST(ReadReal, NeverBecomesInfiniteOrZero) {
  EXPECT_EQ(read_real("1e-5").value, 1e-5);
  EXPECT_EQ(read_real("3").value, 3.0);
  EXPECT_EQ(read_real("5e-324").value, 5e-324);
  EXPECT_EQ(read_real("1e400").status, RealStatus::kOutOfRange);
  EXPECT_EQ(read_real("-1e400").status, RealStatus::kOutOfRange);
  EXPECT_EQ(read_real("1e-400").status, RealStatus::kOutOfRange);
  EXPECT_EQ(read_real("inf").status, RealStatus::kNotNumber);
  EXPECT_EQ(read_real("nan").status, RealStatus::kNotNumber);
  EXPECT_EQ(read_real("1,5").status, RealStatus::kNotNumber);
}

}  // namespace headroom::numbers_test
