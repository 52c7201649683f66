// How far a run is: an updating line on a terminal, a plain line now and then elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "train/log.h"

namespace headroom {

struct ProgressView {
  std::uint64_t step = 0, steps = 0;
  double loss = 0;                 // mean since the last row of train.csv, or of that row
  std::optional<double> held_out;  // of the last evaluation
  double steps_per_s = 0;          // 0: not known yet
};

// Three digits or so, for people: "0.0812", "412". With a point whatever the locale.
std::string short_text(double value);
// "12 s", "3:05", "1:02:03".
std::string duration_text(double seconds);
// The updating line, at most `columns` - 1 wide; parts that do not fit are left out, the bar first.
std::string progress_line(const ProgressView& view, int columns, bool color);
// "step 1200/2000 (60 %), loss 0.0812, held-out 0.0795, 412 steps/s, 2 s left".
std::string plain_line(const ProgressView& view);

class Progress {
 public:
  // The clock of steps/s and time left starts here, at first_step.
  Progress(Log& log, std::uint64_t first_step, std::uint64_t steps);

  // After each update; `row`: it made a row of train.csv. Redraws at most ten times a second, logs
  // a plain line at a row at most each ten seconds, and at the first and last row.
  void update(std::uint64_t step, double loss, bool row);
  void evaluated(double held_out) { view_.held_out = held_out; }

 private:
  using Clock = std::chrono::steady_clock;
  Log& log_;
  std::uint64_t first_step_;
  ProgressView view_;
  Clock::time_point start_;
  std::optional<Clock::time_point> drawn_, logged_;
};

}  // namespace headroom
