#include "core/parallel.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "core/cgroup.h"
#include "core/error.h"
#include "core/spelling.h"

namespace headroom {
namespace {

int configured_threads = 0;  // 0 = not set yet

// Cores granted by the CPU quota of this process's cgroup (version 2, then 1), or 0 where there is
// none. The tightest quota on the way up counts.
double cgroup_quota() {
  double best = 0;
  for_each_cgroup("cpu", [&](const std::filesystem::path& folder, int version) {
    double quota = 0, period = 0;
    if (version == 2) {
      std::ifstream file(folder / "cpu.max");
      std::string text;
      if (file >> text >> period && text != "max") quota = std::atof(text.c_str());
    } else {
      std::ifstream(folder / "cpu.cfs_quota_us") >> quota;
      std::ifstream(folder / "cpu.cfs_period_us") >> period;
    }
    if (quota > 0 && period > 0 && (best == 0 || quota / period < best)) best = quota / period;
  });
  return best;
}

}  // namespace

ThreadChoice default_threads() {
  if (const char* text = std::getenv("OMP_NUM_THREADS")) {
    // OpenMP allows a list, one entry a nesting level; the first counts. Unset and empty are the
    // same to a shell script.
    char* end = nullptr;
    const long n = std::strtol(text, &end, 10);
    while (*end == ' ') ++end;
    const bool number = end != text && n >= 1 && (*end == '\0' || *end == ',');
    if (number) return {static_cast<int>(std::min(n, 4096L)), "OMP_NUM_THREADS"};
    if (*text != '\0') {
      throw Error(Exit::kUsage,
                  "OMP_NUM_THREADS: expected a number of threads, at least 1, found " +
                      in_quotes(text) + "; --threads N beats it");
    }
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  int cores = 1;
  if (sched_getaffinity(0, sizeof set, &set) == 0) cores = std::max(1, CPU_COUNT(&set));
  const double quota = cgroup_quota();
  if (quota > 0 && std::ceil(quota) < cores)
    return {static_cast<int>(std::ceil(quota)), "cgroup quota"};
  return {cores, "CPU affinity"};
}

void require_threads(int n, const char* reason) {
  std::mutex mutex;
  std::condition_variable done;
  bool over = false;
  std::vector<std::thread> started;
  started.reserve(static_cast<std::size_t>(n));
  std::string problem;
  while (problem.empty() && static_cast<int>(started.size()) < n - 1) {
    try {
      started.emplace_back([&] {
        std::unique_lock lock(mutex);
        done.wait(lock, [&] { return over; });
      });
    } catch (const std::system_error& error) {
      problem = error.code().message();
    }
  }
  {
    const std::lock_guard lock(mutex);
    over = true;
  }
  done.notify_all();
  for (std::thread& thread : started) thread.join();
  if (problem.empty()) return;
  throw Error(Exit::kUsage, std::string(reason) + ": " + std::to_string(n) +
                                " threads are more than can be started here, which are " +
                                std::to_string(started.size() + 1) + " (" + problem + ")");
}

void limit_spinning(char** argv) {
  for (const char* chosen : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"})
    if (std::getenv(chosen) != nullptr) return;
  if (::setenv("GOMP_SPINCOUNT", "5000", 1) == 0) ::execv("/proc/self/exe", argv);
}

void set_threads(int n) {
  configured_threads = std::max(1, n);
  // Every parallel region of ours names its own number of threads. A library that would start
  // threads by itself outside one (oneDNN does for a large product) gets one, or its sums would
  // depend on the machine.
  omp_set_num_threads(1);
}

int threads() {
  if (configured_threads == 0) set_threads(default_threads().threads);
  return configured_threads;
}

}  // namespace headroom
