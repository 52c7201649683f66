// What a model costs, as `check` and `diff` show it.
#pragma once

#include <string>

#include "core/json.h"
#include "model/budget.h"

namespace headroom {

// Tables of one layer and of the whole model by part, then the budgets that experiments hold fixed.
std::string budget_text(const Budget& budget);

// The same as an object; keys only ever get added.
json::Value budget_value(const Budget& budget);

}  // namespace headroom
