// A layer's parameters as if one of its heads were not there: for ablations.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "model/attention.h"

namespace headroom {

// A copy of `view` in `memory`.
template <class S, std::size_t N>
View<S, N> copy_of(const View<S, N>& view, std::vector<S>& memory) {
  memory.assign(view.data, view.data + view.size());
  return {memory.data(), view.dims};
}

// p without one head of one copy, the changed tensor in `memory`.
template <class S>
AttentionParams<S> without_head(const ModelConfig& c, const AttentionSizes& n, AttentionParams<S> p,
                                std::size_t copy, std::size_t head,
                                std::array<std::vector<S>, 2>& memory) {
  const std::size_t v = n.shape.value_size, column = (copy * n.shape.heads + head) * v;
  if (!p.mixers.weights.empty()) {
    p.mixers.weights = copy_of(p.mixers.weights, memory[0]);
    for (std::size_t to = 0; to < n.shape.value_heads; ++to) p.mixers.weights(copy, to, head) = S{};
  } else if (c.attention.value_map == HeadMap::kFull) {
    p.qkv = copy_of(p.qkv, memory[0]);
    const std::size_t row = n.queries + n.keys + column;
    std::fill_n(&p.qkv(row, std::size_t{0}), v * c.width, S{});
    if (!p.qkv_bias.empty()) {
      p.qkv_bias = copy_of(p.qkv_bias, memory[1]);
      std::fill_n(&p.qkv_bias(std::size_t{0}, row), v, S{});
    }
  } else {
    p.output = copy_of(p.output, memory[0]);
    for (std::size_t row = 0; row < c.width; ++row) std::fill_n(&p.output(row, column), v, S{});
  }
  return p;
}

}  // namespace headroom
