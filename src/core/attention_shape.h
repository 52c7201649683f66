// The sizes of one attention operation, shared by the kernels and their reference twins.
#pragma once

#include <cstddef>

namespace headroom {

// G counts all softmaxes of a layer: copies * heads.
struct AttentionShape {
  std::size_t batch = 0;       // B
  std::size_t queries = 0;     // Tq
  std::size_t keys = 0;        // Tk
  std::size_t heads = 0;       // G
  std::size_t key_size = 0;    // K
  std::size_t value_size = 0;  // V
  double scale = 1;            // of the scores
  bool causal = false;         // query t sees keys 0 .. t
};

}  // namespace headroom
