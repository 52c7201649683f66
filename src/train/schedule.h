// The learning rate of each update.
#pragma once

#include <cstdint>

#include "train/train_config.h"

namespace headroom {

// With W warm-up updates, horizon S and x = (s - W) / (S - W), update s = 1, 2, ... has the rate
//   s <= W   lr s / W
//   linear   floor lr + (1 - floor) lr (1 - x),                 floor lr beyond S
//   cosine   floor lr + (1 - floor) lr (1 + cos(pi x)) / 2,     floor lr beyond S
//   constant lr, whatever S
class Schedule {
 public:
  // S is config.steps, or train_steps where that is null; a warm-up below 1 is a share of S,
  // rounded to nearest. Throws Error(kUsage) if W >= S or W is no whole number (S = 0 takes no
  // update and is fine).
  Schedule(const ScheduleConfig& config, double lr, std::uint64_t train_steps);

  double rate(std::uint64_t update) const;
  std::uint64_t warmup() const { return warmup_; }    // W
  std::uint64_t horizon() const { return horizon_; }  // S

 private:
  ScheduleType type_;
  double lr_, floor_;
  std::uint64_t warmup_ = 0, horizon_ = 0;
};

}  // namespace headroom
