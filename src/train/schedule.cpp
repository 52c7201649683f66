#include "train/schedule.h"

#include <cassert>
#include <cmath>
#include <numbers>
#include <string>

#include "core/error.h"
#include "core/numbers.h"

namespace headroom {

Schedule::Schedule(const ScheduleConfig& config, double lr, std::uint64_t train_steps)
    : type_(config.type),
      lr_(lr),
      floor_(config.floor),
      horizon_(config.steps.value_or(train_steps)) {
  if (config.warmup >= 1 && config.warmup != std::floor(config.warmup)) {
    throw Error(Exit::kUsage, "train.schedule.warmup: " + real_text(config.warmup) +
                                  " is neither a share below 1 nor a whole number of updates");
  }
  const double updates =
      config.warmup < 1 ? std::round(config.warmup * static_cast<double>(horizon_)) : config.warmup;
  if (updates > 0 && horizon_ > 0 && updates >= static_cast<double>(horizon_)) {
    throw Error(Exit::kUsage, "train.schedule.warmup: " + real_text(config.warmup) + " makes " +
                                  std::to_string(static_cast<std::uint64_t>(updates)) +
                                  " warm-up updates, which must be fewer than the schedule's " +
                                  std::to_string(horizon_) +
                                  " steps (train.schedule.steps, or else train.steps)");
  }
  warmup_ = horizon_ == 0 ? 0 : static_cast<std::uint64_t>(updates);
}

double Schedule::rate(std::uint64_t update) const {
  assert(update >= 1);
  const auto s = static_cast<double>(update), w = static_cast<double>(warmup_);
  if (update <= warmup_) return lr_ * s / w;
  if (type_ == ScheduleType::kConstant) return lr_;
  if (update > horizon_) return floor_ * lr_;
  const double x = (s - w) / (static_cast<double>(horizon_) - w);
  const double share =
      type_ == ScheduleType::kLinear ? 1 - x : (1 + std::cos(std::numbers::pi * x)) / 2;
  return floor_ * lr_ + (1 - floor_) * lr_ * share;
}

}  // namespace headroom
