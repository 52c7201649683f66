// One head of full rank (science A.7 (1)).
#include "theory/exact_retrieval.h"
#include "theory/makers.h"

namespace headroom {

namespace {

class FullRank final : public ExactRetrieval {
 public:
  ModelConfig model() const override {
    ModelConfig model = ExactRetrieval::model();
    model.attention.heads = 1;
    model.attention.key_size = dim_;
    model.attention.value_size = dim_;
    return model;
  }

  void set(HandSet& parameters) const override {
    parameters.identity("layers.0.attention.query.weight", sign() * beta_);
    parameters.identity("layers.0.attention.key.weight", 1);
    parameters.identity("layers.0.attention.value.weight", 1);
    parameters.identity("layers.0.attention.output.weight", 1);
  }
};

}  // namespace

std::unique_ptr<Construction> make_full_rank() { return std::make_unique<FullRank>(); }

}  // namespace headroom
