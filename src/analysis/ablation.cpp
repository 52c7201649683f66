#include "analysis/ablation.h"

#include "analysis/sample_mean.h"
#include "core/parallel.h"
#include "train/evaluate.h"

namespace headroom {

Ablation::Ablation(const Task& task) : task_(task), sheet_(task, task.final_stage()) {}

std::vector<double> Ablation::losses(const Batch& items, View<float, 3> predictions,
                                     View<const float, 3> output) const {
  take_predictions(predictions, output, task_.shape());
  const std::size_t n = items.items(), size = sheet_.row_size();
  std::vector<double> rows(n * size), result(n);
  parallel_for(n, [&](std::size_t b) {
    sheet_.measure(items.input[b], items.target[b], predictions[b],
                   std::span(rows).subspan(b * size, size));
  });
  for (std::size_t b = 0; b < n; ++b) result[b] = rows[b * size];  // the loss stands first
  return result;
}

bool Ablation::add(Model<float>& model, const Batch& items, View<float, 3> predictions,
                   View<const float, 3> output, const std::function<bool()>& stop) {
  const std::vector<AttentionRecord<float>> sites = model.attention();
  const std::vector<double> whole = losses(items, predictions, output);
  whole_.insert(whole_.end(), whole.begin(), whole.end());
  deltas_.resize(sites.size());
  for (std::size_t site = sites.size(); site-- > 0;) {
    const AttentionShape& s = sites[site].sizes.shape;
    deltas_[site].resize(s.copies * s.heads);
    for (std::size_t g = 0; g < s.copies * s.heads; ++g) {
      if (stop()) return false;
      const std::vector<double> without =
          losses(items, predictions, model.forward_without(site, g / s.heads, g % s.heads));
      for (std::size_t b = 0; b < without.size(); ++b)
        deltas_[site][g].push_back(without[b] - whole[b]);
    }
  }
  return true;
}

Mean Ablation::loss() const { return mean_of(whole_); }

std::vector<std::vector<Mean>> Ablation::deltas() const {
  std::vector<std::vector<Mean>> result;
  for (const auto& site : deltas_) {
    result.emplace_back();
    for (const auto& head : site) result.back().push_back(mean_of(head));
  }
  return result;
}

}  // namespace headroom
