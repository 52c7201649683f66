#include "train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/error.h"

namespace headroom::schedule_test {

ScheduleConfig config(ScheduleType type, double warmup, double floor,
                      std::optional<std::uint64_t> steps = std::nullopt) {
  return {.type = type, .warmup = warmup, .floor = floor, .steps = steps};
}

TEST(Schedule, WarmsUpFromAboveZero) {
  const Schedule s(config(ScheduleType::kCosine, 0.05, 0), 0.01, 2000);
  EXPECT_EQ(s.warmup(), 100u);
  EXPECT_DOUBLE_EQ(s.rate(1), 0.01 / 100);
  EXPECT_DOUBLE_EQ(s.rate(50), 0.005);
  EXPECT_DOUBLE_EQ(s.rate(100), 0.01);
  EXPECT_LT(s.rate(101), 0.01);
}

TEST(Schedule, CosineFollowsTheFormulaAndEndsAtTheFloor) {
  const Schedule s(config(ScheduleType::kCosine, 10, 0.1), 0.5, 110);
  for (const std::uint64_t u : {11, 35, 60, 85, 109}) {
    const double x = static_cast<double>(u - 10) / 100;
    EXPECT_DOUBLE_EQ(s.rate(u), 0.05 + 0.45 * (1 + std::cos(std::numbers::pi * x)) / 2);
  }
  EXPECT_DOUBLE_EQ(s.rate(60), 0.05 + 0.45 / 2);
  EXPECT_DOUBLE_EQ(s.rate(110), 0.05);
  EXPECT_DOUBLE_EQ(s.rate(111), 0.05);
  EXPECT_DOUBLE_EQ(s.rate(1'000'000), 0.05);
}

TEST(Schedule, LinearEndsAtTheFloor) {
  const Schedule s(config(ScheduleType::kLinear, 0, 0.2, 100), 1, 1000);
  EXPECT_EQ(s.horizon(), 100u);
  EXPECT_DOUBLE_EQ(s.rate(1), 0.2 + 0.8 * 0.99);
  EXPECT_DOUBLE_EQ(s.rate(50), 0.6);
  EXPECT_DOUBLE_EQ(s.rate(100), 0.2);
  EXPECT_DOUBLE_EQ(s.rate(101), 0.2);
  EXPECT_DOUBLE_EQ(s.rate(1000), 0.2);
}

TEST(Schedule, ConstantStaysAfterTheWarmUp) {
  const Schedule s(config(ScheduleType::kConstant, 4, 0, 10), 0.3, 100);
  EXPECT_DOUBLE_EQ(s.rate(1), 0.075);
  for (const std::uint64_t u : {4, 5, 10, 11, 100}) EXPECT_DOUBLE_EQ(s.rate(u), 0.3);
}

TEST(Schedule, AShareIsRoundedToNearest) {
  EXPECT_EQ(Schedule(config(ScheduleType::kCosine, 0.05, 0), 1, 7).warmup(), 0u);
  EXPECT_EQ(Schedule(config(ScheduleType::kCosine, 0.05, 0), 1, 10).warmup(), 1u);
  EXPECT_EQ(Schedule(config(ScheduleType::kCosine, 0.05, 0), 1, 29).warmup(), 1u);
  EXPECT_EQ(Schedule(config(ScheduleType::kCosine, 0.05, 0), 1, 31).warmup(), 2u);
  EXPECT_EQ(Schedule(config(ScheduleType::kCosine, 0.05, 0, 200), 1, 31).warmup(), 10u);
}

TEST(Schedule, RefusesAWarmUpThatLeavesNothing) {
  for (const double warmup : {10.0, 11.0, 0.96, 2.5}) {
    try {
      const Schedule s(config(ScheduleType::kCosine, warmup, 0), 1, 10);
      ADD_FAILURE() << warmup;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Exit::kUsage);
      EXPECT_NE(std::string(error.what()).find("train.schedule.warmup"), std::string::npos);
    }
  }
  EXPECT_NO_THROW(Schedule(config(ScheduleType::kCosine, 9, 0), 1, 10));
}

TEST(Schedule, NoStepsAreFineAndOneStepHasARate) {
  EXPECT_EQ(Schedule(config(ScheduleType::kCosine, 0.05, 0), 1, 0).warmup(), 0u);
  EXPECT_TRUE(std::isfinite(Schedule(config(ScheduleType::kCosine, 0.05, 0), 1, 1).rate(1)));
}

}  // namespace headroom::schedule_test
