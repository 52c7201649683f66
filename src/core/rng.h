// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011). Every stream is a pure function of (seed, purpose, step,
// item), so that resume, the thread count and the evaluation frequency cannot change a draw.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace headroom {

// What a stream is for. The numbers are part of the reproducibility promise: append, never
// renumber.
enum class Purpose : std::uint32_t {
  kInit = 1,       // initial parameters; step = parameter row
  kTrain = 2,      // training batches; step = update, from 1
  kEval = 3,       // the held-out stream; step = 0
  kPool = 4,       // a finite pool of tasks
  kBaseline = 5,   // data on which baselines are fitted
  kCheck = 6,      // gradient check
  kTest = 7,       // tests
  kConstruct = 8,  // hand-set models
  kShift = 9,      // what a distribution shift draws once
  kBootstrap = 10  // resampling of held-out items; item = trial
};

// Philox4x32-10: ten rounds on a 128-bit counter under a 64-bit key.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

class Random {
 public:
  // item < 2^32. A stream holds 2^34 numbers.
  Random(std::uint64_t seed, Purpose purpose, std::uint64_t step, std::uint64_t item);

  std::uint32_t bits();                     // 32 uniform bits
  double uniform();                         // [0, 1), 53 bits
  double uniform(double low, double high);  // [low, high)
  double normal();                          // N(0, 1)
  std::uint32_t below(std::uint32_t n);     // 0 .. n-1 without bias; n > 0
  void fill_normal(std::span<float> out);   // N(0, 1), vectorised; |x| <= 6.8
  void fill_uniform(std::span<float> out, float low, float high);

 private:
  void refill();

  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;  // [0] is the block within the stream
  std::array<std::uint32_t, 4> block_{};
  unsigned used_ = 4;
};

}  // namespace headroom
