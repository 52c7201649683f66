#include "train/time_budget.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "core/error.h"
#include "core/spelling.h"
#include "train/signals.h"

namespace headroom {
namespace {

constexpr double kMaxSeconds = 10 * 366 * 86400.0;
// A disk is not always as quick as it was, and the process has to end.
constexpr double kMargin = 1.5, kLeave_s = 0.1;

TimeBudget::Clock::duration duration(double seconds) {
  return std::chrono::duration_cast<TimeBudget::Clock::duration>(
      std::chrono::duration<double>(seconds));
}

}  // namespace

double read_duration_s(const std::string& text) {
  const auto refuse = [&] {
    throw Error(Exit::kUsage,
                "--time-budget: expected a time such as 2h, 90m, 1h30m, 45s or "
                "seconds, or auto, found " +
                    in_quotes(text));
  };
  constexpr std::string_view kUnits = "hms";  // each at most once, in this order
  constexpr double kSeconds[] = {3600, 60, 1};
  double total = 0;
  std::size_t next = 0;
  std::string_view rest = text;
  if (rest.empty()) refuse();
  while (!rest.empty()) {
    double value = 0;
    const auto [stop, problem] =
        std::from_chars(rest.data(), rest.data() + rest.size(), value, std::chars_format::fixed);
    if (problem != std::errc() || rest.front() == '-') refuse();
    const bool plain = rest.size() == text.size() && stop == rest.data() + rest.size();
    rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
    std::size_t unit = 2;
    if (!plain) {
      unit = rest.empty() ? std::string_view::npos : kUnits.find(rest.front());
      if (unit == std::string_view::npos || unit < next) refuse();
      rest.remove_prefix(1);
    }
    next = unit + 1;
    total += value * kSeconds[unit];
  }
  if (!(total > 0 && total <= kMaxSeconds)) refuse();
  return total;
}

std::optional<double> scheduler_seconds_left() {
  const char* const text = std::getenv("SLURM_JOB_END_TIME");
  if (text == nullptr) return std::nullopt;
  const std::string_view digits(text);
  std::int64_t end = 0;
  const auto [stop, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), end);
  if (problem != std::errc() || stop != digits.data() + digits.size()) return std::nullopt;
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return std::clamp(static_cast<double>(end) - now, 0.0, kMaxSeconds);
}

TimeBudget::TimeBudget(Clock::time_point start, std::optional<double> seconds, double guess_s)
    : checkpoint_s_(guess_s) {
  if (seconds) end_ = start + duration(*seconds);
  set();
}

TimeBudget::~TimeBudget() { set_stop_deadline(Clock::time_point::max()); }

void TimeBudget::took_checkpoint(double seconds) {
  checkpoint_s_ = measured_ ? std::max(checkpoint_s_, seconds) : seconds;
  measured_ = true;
  set();
}

void TimeBudget::took_step(double seconds) {
  if (seconds <= step_s_) return;
  step_s_ = seconds;
  set();
}

bool TimeBudget::over() const { return end_ && stop_requested() && stop_signal() == 0; }

void TimeBudget::set() {
  if (!end_) return;
  set_stop_deadline(*end_ - duration(kMargin * (checkpoint_s_ + step_s_) + kLeave_s));
}

}  // namespace headroom
