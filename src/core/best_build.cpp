#include "core/best_build.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/error.h"

namespace headroom {
namespace {

struct Build {
  std::string_view arch;
  bool runs;  // on this CPU
};

// The best first. The levels of the x86-64 psABI; CPUs have all of a level or lack what is asked
// for here.
std::array<Build, 3> builds() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
#else
  const bool v3 = false, v4 = false;
#endif
  return {{{"x86-64-v4", v4}, {"x86-64-v3", v3}, {"x86-64", true}}};
}

std::string_view chosen_arch() {
  const char* wanted = std::getenv("HEADROOM_ARCH");
  for (const Build& build : builds()) {
    if (wanted == nullptr && build.runs) return build.arch;
    if (wanted == nullptr || build.arch != wanted) continue;
    if (!build.runs)
      throw Error(Exit::kUsage, "HEADROOM_ARCH: this CPU does not run " + std::string(wanted));
    return build.arch;
  }
  throw Error(Exit::kUsage, "HEADROOM_ARCH: '" + std::string(wanted) +
                                "' is none of x86-64, x86-64-v3, x86-64-v4");
}

}  // namespace

void start_best_build(char** argv) {
  const std::string_view arch = chosen_arch();
  if (arch == builds().back().arch) return;
  std::error_code error;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  program += "." + std::string(arch);
  if (!error) ::execv(program.c_str(), argv);
  throw Error(Exit::kFile, program.string() + ": " + std::strerror(errno) +
                               "; the builds of a portable headroom belong beside each other "
                               "(HEADROOM_ARCH=x86-64 runs this one)");
}

}  // namespace headroom
