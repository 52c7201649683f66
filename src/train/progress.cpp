#include "train/progress.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace headroom {
namespace {

constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::seconds kPlain{10};
constexpr std::size_t kMinBar = 8, kMaxBar = 40;

std::string left_text(const ProgressView& view) {
  if (!(view.steps_per_s > 0)) return "";
  return duration_text(static_cast<double>(view.steps - view.step) / view.steps_per_s) + " left";
}

std::string two_digits(std::uint64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); }

}  // namespace

std::string short_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value >= 100 && value < 1e7 ? "%.0f" : "%.3g", value);
  std::string result(text.data());
  std::replace(result.begin(), result.end(), ',', '.');
  return result;
}

std::string duration_text(double seconds) {
  if (!(seconds < 1e9)) return "a long time";
  const auto s = static_cast<std::uint64_t>(std::lround(std::max(seconds, 0.0)));
  if (s < 60) return std::to_string(s) + " s";
  if (s < 3600) return std::to_string(s / 60) + ":" + two_digits(s % 60);
  return std::to_string(s / 3600) + ":" + two_digits(s / 60 % 60) + ":" + two_digits(s % 60);
}

std::string progress_line(const ProgressView& view, int columns, bool color) {
  const auto room = static_cast<std::size_t>(std::max(columns - 1, 0));
  std::vector<std::string> parts{std::to_string(view.step) + "/" + std::to_string(view.steps)};
  const auto add = [&](const std::string& part) {
    if (!part.empty()) parts.push_back(part);
  };
  add("loss " + short_text(view.loss));
  add(left_text(view));
  if (view.steps_per_s > 0) add(short_text(view.steps_per_s) + " steps/s");
  if (view.held_out) add("held-out " + short_text(*view.held_out));
  std::string text;
  for (const std::string& part : parts) {
    std::string next = text.empty() ? part : text + "  " + part;
    if (next.size() > room) break;
    text = std::move(next);
  }
  if (text.size() + kMinBar + 4 > room) return text;
  const std::size_t width = std::min(kMaxBar, room - text.size() - 4);
  const double share =
      view.steps == 0 ? 1 : static_cast<double>(view.step) / static_cast<double>(view.steps);
  const auto full = std::min(width, static_cast<std::size_t>(share * static_cast<double>(width)));
  std::string bar = std::string(full, '=') + std::string(width - full, ' ');
  if (color) bar = "\033[32m" + bar + "\033[0m";
  return "[" + bar + "]  " + text;
}

std::string plain_line(const ProgressView& view) {
  const std::uint64_t percent = view.steps == 0 ? 100 : view.step * 100 / view.steps;
  std::string line = "step " + std::to_string(view.step) + "/" + std::to_string(view.steps) + " (" +
                     std::to_string(percent) + " %), loss " + short_text(view.loss);
  if (view.held_out) line += ", held-out " + short_text(*view.held_out);
  if (view.steps_per_s > 0) {
    line += ", " + short_text(view.steps_per_s) + " steps/s";
    if (view.step < view.steps) line += ", " + left_text(view);
  }
  return line;
}

Progress::Progress(Log& log, std::uint64_t first_step, std::uint64_t steps)
    : log_(log), first_step_(first_step), start_(Clock::now()) {
  view_.steps = steps;
}

void Progress::update(std::uint64_t step, double loss, bool row) {
  const Clock::time_point now = Clock::now();
  const bool draw = log_.terminal() && (!drawn_ || now - *drawn_ >= kRedraw || step == view_.steps);
  const bool plain = row && (!logged_ || now - *logged_ >= kPlain || step == view_.steps);
  if (!draw && !plain) return;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  view_.step = step;
  view_.loss = loss;
  view_.steps_per_s = seconds > 0 ? static_cast<double>(step - first_step_) / seconds : 0;
  if (draw) {
    log_.show(progress_line(view_, Log::terminal_columns(), Log::colors()));
    drawn_ = now;
  }
  if (plain) {
    log_.terminal() ? log_.file_only(plain_line(view_)) : log_.info(plain_line(view_));
    logged_ = now;
  }
}

}  // namespace headroom
