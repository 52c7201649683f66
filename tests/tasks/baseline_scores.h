// Baselines by their names.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "baselines/baseline.h"
#include "tasks/item.h"

namespace headroom {

inline Score score_of(const std::vector<BaselineScore>& scores, const std::string& name) {
  for (const BaselineScore& row : scores) {
    if (row.name == name) return row.score;
  }
  ADD_FAILURE() << "no baseline " << name;
  return {};
}

// Of the default baselines, or of these.
inline std::vector<BaselineScore> evaluate(const TaskConfig& config, std::size_t n_items,
                                           const std::vector<std::string>& names = {"default"}) {
  return *evaluate_baselines(*make_task(config), 0, n_items, {.names = names});
}

inline std::unique_ptr<Baseline> make(const Task& task, const BaselineChoice& choice,
                                      std::uint64_t seed = 0) {
  return choice.row->make({.task = task, .seed = seed, .value = choice.value, .stop = {}});
}

inline std::unique_ptr<Baseline> baseline(const Task& task, const std::string& name) {
  const std::vector<std::string> names{name};
  return make(task, choose_baselines(task.config().type, names).front());
}

}  // namespace headroom
