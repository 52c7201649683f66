// Heads from a budget: B = d * H * r of one layer over all copies, so heads a copy = B / (d r c).
#pragma once

#include "model/model_config.h"

namespace headroom {

// The budget in multiply-adds of one token's queries, as the config asks for it; d^2.5 is rounded
// where the width is no square.
double budget_value(const HeadBudget& budget, std::size_t width);

// Replaces a budget in `attention.heads` by the number of heads, and a null value_size by key_size;
// leaves a plain number alone. Full score maps have r = d, and full value maps no value_size to
// fill. Throws Error(kUsage) where key_size is not given or the heads are no whole number from 1 to
// 65536; the message names the nearest budgets and key sizes that would do. (Amsel, Yehudai, Bruna
// 2025: H = d / r, d^1.5 / r, d^2 / r.)
void resolve_head_budget(ModelConfig& config);

}  // namespace headroom
