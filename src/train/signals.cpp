#include "train/signals.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "core/error.h"

namespace headroom {
namespace {

std::atomic<int> caught{0};
std::atomic<int> interrupts{0};
std::atomic<std::chrono::steady_clock::time_point> deadline{
    std::chrono::steady_clock::time_point::max()};
static_assert(std::atomic<int>::is_always_lock_free, "a handler may touch it");

extern "C" void on_signal(int signal) {
  if (signal == SIGINT && interrupts.fetch_add(1) > 0) _exit(static_cast<int>(Exit::kInterrupted));
  int none = 0;
  caught.compare_exchange_strong(none, signal);
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaction(signal, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
}

int stop_signal() { return caught.load(); }

void set_stop_deadline(std::chrono::steady_clock::time_point time) { deadline = time; }

bool stop_requested() {
  return stop_signal() != 0 || std::chrono::steady_clock::now() >= deadline.load();
}

Exit stopped_exit() { return stop_signal() == SIGINT ? Exit::kInterrupted : Exit::kStopped; }

const char* signal_name(int signal) {
  switch (signal) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGUSR1:
      return "SIGUSR1";
    default:
      return "a signal";
  }
}

void clear_stop_signal() {
  caught = 0;
  interrupts = 0;
  set_stop_deadline(std::chrono::steady_clock::time_point::max());
}

}  // namespace headroom
