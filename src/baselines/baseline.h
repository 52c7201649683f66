// Predictors that are no neural network, evaluated on exactly the model's held-out stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/view.h"
#include "tasks/score.h"
#include "tasks/task.h"

namespace headroom {

class Baseline {
 public:
  virtual ~Baseline() = default;
  // One item: input (T,D), query (Q,D), empty without queries -> output (P,O), written whole.
  // `item` is its number in the stream, for predictors that draw. Several threads may call this at
  // once; it must not throw.
  virtual void predict(std::size_t item, View<const float, 2> input, View<const float, 2> query,
                       View<float, 2> output) const = 0;

  std::string name() const;
  std::string sentence() const;

 private:
  friend std::vector<std::unique_ptr<Baseline>> make_baselines(const Task& task,
                                                               std::uint64_t seed);
  const struct BaselineRow* row_ = nullptr;
};

// The table of baselines (baselines.cpp), in the order in which they are reported.
struct BaselineRow {
  TaskType task;
  const char* name;
  const char* sentence;
  std::unique_ptr<Baseline> (*make)(const Task& task, std::uint64_t seed);
};
std::span<const BaselineRow> baseline_rows();

// The baselines of this task, fitted where they have something to fit (on Purpose::kBaseline data
// of `seed`) at its final stage. The task may be gone afterwards.
std::vector<std::unique_ptr<Baseline>> make_baselines(const Task& task, std::uint64_t seed);

struct BaselineScore {
  std::string name, sentence;
  Score score;
};
// All of them on items 0 .. n_items-1 of stream (seed, kEval, 0) at the final stage. `stop`, if
// given, is asked now and then, from any thread; once it says true the result is empty.
std::vector<BaselineScore> evaluate_baselines(const Task& task, std::uint64_t seed,
                                              std::size_t n_items,
                                              const std::function<bool()>& stop = {});

}  // namespace headroom
