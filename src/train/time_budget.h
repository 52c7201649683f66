// How long a run may take.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace headroom {

// "2h", "90m", "45s", "1h30m", "1.5h" or plain seconds. Throws Error(kUsage) for anything else, and
// for what is not above 0 or is longer than ten years.
double read_duration_s(const std::string& text);

// The seconds until the job this process belongs to is ended by Slurm (SLURM_JOB_END_TIME, seconds
// since 1970), at least 0; nothing outside such a job.
std::optional<double> scheduler_seconds_left();

// Asks for a stop (signals.h) early enough that what the run does last, a step or a batch of the
// evaluation and then a checkpoint, is done before the budget is over. How long these take is
// measured as they happen.
class TimeBudget {
 public:
  using Clock = std::chrono::steady_clock;

  // `seconds` from `start` on; nothing: no budget. `guess_s`: of a checkpoint, before the first.
  TimeBudget(Clock::time_point start, std::optional<double> seconds, double guess_s);
  ~TimeBudget();
  TimeBudget(const TimeBudget&) = delete;
  TimeBudget& operator=(const TimeBudget&) = delete;

  void took_checkpoint(double seconds);
  void took_step(double seconds);

  bool over() const;  // the stop has been asked for

 private:
  void set();

  std::optional<Clock::time_point> end_;
  double checkpoint_s_, step_s_ = 0;
  bool measured_ = false;
};

}  // namespace headroom
