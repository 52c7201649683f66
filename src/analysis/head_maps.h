// The spectra of a layer's maps, head by head.
#pragma once

#include <vector>

#include "analysis/inspect.h"

namespace headroom {

// The part of a layer that depends on its parameters alone. config is resolved.
LayerInspection inspect_maps(const ModelConfig& config, const AttentionRecord<float>& layer);

}  // namespace headroom
