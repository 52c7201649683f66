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

// Adds its lifetime to a phase, without that of scopes inside it. In a parallel loop the calling
// thread's tiles stand for all, as every thread does the same mix.
class PhaseScope {
 public:
  explicit PhaseScope(Phase phase) : phase_(phase) {
    if (phase_seconds == nullptr) return;
    around_ = innermost_;
    innermost_ = this;
    start_ = Clock::now();
  }
  ~PhaseScope() {
    if (phase_seconds == nullptr) return;
    const double all = std::chrono::duration<double>(Clock::now() - start_).count();
    (*phase_seconds)[static_cast<std::size_t>(phase_)] += all - inside_s_;
    if (around_ != nullptr) around_->inside_s_ += all;
    innermost_ = around_;
  }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  static inline thread_local PhaseScope* innermost_ = nullptr;
  Phase phase_;
  Clock::time_point start_;
  double inside_s_ = 0;  // of the scopes within this one
  PhaseScope* around_ = nullptr;
};

}  // namespace headroom
