// What `inspect` prints.
#pragma once

#include <string>

#include "analysis/inspect.h"

namespace headroom {

// Tables, one block a layer; of more than kRowsShown heads their quartiles.
std::string inspect_text(const Inspection& inspection);

// {"items", "ablation_items", "loss", "layers": [{..., "heads": [{...}]}], "tokens"}; what is not
// defined is null.
std::string inspect_json(const Inspection& inspection);

}  // namespace headroom
