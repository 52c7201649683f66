#include "baselines/makers.h"
#include "tasks/nearest_neighbor.h"

namespace headroom {

namespace {

// The sampler's own search, so that points that tie but for rounding are answered alike.
class Exact final : public Baseline {
 public:
  explicit Exact(QueryMode mode) : mode_(mode) {}

  void predict(std::size_t, View<const float, 2> input, View<const float, 2> query,
               View<float, 2> output) const override {
    if (mode_ == QueryMode::kSeparate) {
      answer_queries(input, query, output);
    } else {
      answer_self_queries(mode_, input, output);
    }
  }

 private:
  QueryMode mode_;
};

}  // namespace

std::unique_ptr<Baseline> make_exact(const BaselineSetting& setting) {
  return std::make_unique<Exact>(setting.task.config().query);
}

}  // namespace headroom
