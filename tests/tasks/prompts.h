// Prompts made by hand, and what predictors say of them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tasks/baseline_scores.h"

namespace headroom {

// Examples x(i, c), y(i) as the interleaved tokens of linear_regression.
struct HandPrompt {
  std::size_t n, d;
  std::vector<float> tokens;

  HandPrompt(std::size_t n_in, std::size_t d_in,
             const std::function<float(std::size_t, std::size_t)>& x,
             const std::function<float(std::size_t)>& y)
      : n(n_in), d(d_in), tokens(2 * n * d, 0.0f) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t c = 0; c < d; ++c) tokens[2 * i * d + c] = x(i, c);
      tokens[(2 * i + 1) * d] = y(i);
    }
  }
  float x(std::size_t i, std::size_t c) const { return tokens[2 * i * d + c]; }
  float y(std::size_t i) const { return tokens[(2 * i + 1) * d]; }

  // By position.
  std::vector<float> predict(const std::string& name, double noise = 0) const {
    std::vector<float> output(n, -77), memory = tokens;
    baseline(*make_task(regression(d, n, noise)), name)
        ->predict(0, {memory.data(), {2 * n, d}}, {}, {output.data(), {n, 1}});
    return output;
  }
};

// The prompt of item `item` of a test stream.
inline HandPrompt random_prompt(std::size_t n, std::size_t d, std::uint64_t item,
                                double noise = 0) {
  const std::unique_ptr<Task> task = make_task(regression(d, n, noise));
  Items items(*task, 1);
  sample_one(*task, item, items);
  const View<float, 2> in = items.input();
  return {n, d, [&](std::size_t i, std::size_t c) { return in(2 * i, c); },
          [&](std::size_t i) { return in(2 * i + 1, std::size_t{0}); }};
}

}  // namespace headroom
