#include "core/parallel.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace headroom {
namespace {

int configured_threads = 0;  // 0 = not set yet

// Cores granted by the CPU quota of this process's cgroup (version 2, then 1), or 0 where there is
// none. The tightest quota on the way up counts.
double cgroup_quota() {
  std::ifstream groups("/proc/self/cgroup");
  double best = 0;
  const auto take = [&](double quota, double period) {
    if (quota > 0 && period > 0 && (best == 0 || quota / period < best)) best = quota / period;
  };
  for (std::string line; std::getline(groups, line);) {
    const std::size_t colon = line.find(':'), colon2 = line.find(':', colon + 1);
    if (colon == std::string::npos || colon2 == std::string::npos) continue;
    const std::string controllers = line.substr(colon + 1, colon2 - colon - 1);
    std::filesystem::path group = line.substr(colon2 + 1);
    const bool v2 = controllers.empty();
    if (!v2 && controllers.find("cpu") == std::string::npos) continue;
    const std::filesystem::path root = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
    for (;;) {
      const std::filesystem::path folder = root / group.relative_path();
      if (v2) {
        std::ifstream file(folder / "cpu.max");
        std::string quota;
        double period = 0;
        if (file >> quota >> period && quota != "max") take(std::atof(quota.c_str()), period);
      } else {
        double quota = 0, period = 0;
        std::ifstream(folder / "cpu.cfs_quota_us") >> quota;
        std::ifstream(folder / "cpu.cfs_period_us") >> period;
        take(quota, period);
      }
      if (group.relative_path().empty()) break;
      group = group.parent_path();
    }
  }
  return best;
}

}  // namespace

ThreadChoice default_threads() {
  if (const char* text = std::getenv("OMP_NUM_THREADS")) {
    // OpenMP allows a list, one entry a nesting level; the first counts.
    char* end = nullptr;
    const long n = std::strtol(text, &end, 10);
    if (end != text && n >= 1) return {static_cast<int>(std::min(n, 4096L)), "OMP_NUM_THREADS"};
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
