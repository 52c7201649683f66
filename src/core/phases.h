// Where the time of a training step goes, for `headroom bench`. Scopes cost a test of one pointer
// unless somebody measures.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

namespace headroom {

enum class Phase { kMatmul, kAttention, kNorm, kActivation, kLoss, kOptimizer, kData, kOther };
inline constexpr std::array<const char*, 8> kPhaseNames{"matmul", "attention", "norm", "activation",
                                                        "loss",   "optimizer", "data", "other"};

using PhaseSeconds = std::array<double, kPhaseNames.size()>;

// Where the calling thread's scopes add up, or nullptr: nobody measures.
inline thread_local PhaseSeconds* phase_seconds = nullptr;

// Adds its lifetime to a phase. Scopes do not nest.
class PhaseScope {
 public:
  explicit PhaseScope(Phase phase) : phase_(phase) {
    if (phase_seconds != nullptr) start_ = Clock::now();
  }
  ~PhaseScope() {
    if (phase_seconds != nullptr)
      (*phase_seconds)[static_cast<std::size_t>(phase_)] +=
          std::chrono::duration<double>(Clock::now() - start_).count();
  }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  Phase phase_;
  Clock::time_point start_;
};

}  // namespace headroom
