#include "baselines/makers.h"
#include "tasks/nearest_neighbor.h"

namespace headroom {

namespace {

// The sampler's own search, so that points that tie but for rounding are answered alike.
class Exact final : public Baseline {
 public:
  explicit Exact(const TaskConfig& task) : task_(task) {
    if (task.type == TaskType::kNearestMinusFarthest) scale_ = difference_scale(task);
  }

  void predict(std::size_t, View<const float, 2> input, View<const float, 2> query,
               View<float, 2> output) const override {
    if (task_.type == TaskType::kNearestMinusFarthest) {
      answer_differences(input, query, scale_, output);
    } else if (task_.query == QueryMode::kSeparate) {
      answer_queries(input, query, output);
    } else {
      answer_self_queries(task_.query, input, output);
    }
  }

 private:
  TaskConfig task_;
  double scale_ = 1;  // of differences
};

}  // namespace

std::unique_ptr<Baseline> make_exact(const BaselineSetting& setting) {
  return std::make_unique<Exact>(setting.task.config());
}

}  // namespace headroom
