// One head of full rank inside the architecture that is trained (science A.7 (1); Amsel, Yehudai,
// Bruna's PerfectEncoder): what the head finds is made so long that the residual drowns in it, and
// the l2 norm gives it length 1 again.
#include <cmath>
#include <string>

#include "theory/exact_retrieval.h"
#include "theory/formulas.h"
#include "theory/makers.h"

namespace headroom {

namespace {

class FullRankEncoder final : public ExactRetrieval {
 public:
  FullRankEncoder() { beta_ = 125000; }  // their W_Q = 1e6 I in 64 dimensions

  ModelConfig model() const override {
    ModelConfig model;
    model.layers = layers_;
    model.width = dim_;
    model.norm.type = NormType::kL2;
    model.norm.placement = NormPlacement::kPost;
    model.attention.kind =
        query_ == QueryMode::kSeparate ? AttentionKind::kCross : AttentionKind::kSelf;
    model.attention.heads = 1;
    model.ffn.width = ffn_width_;
    return model;
  }

  void set(HandSet& parameters) const override {
    for (std::size_t layer = 0; layer < layers_; ++layer) {
      const std::string at = "layers." + std::to_string(layer) + ".";
      const bool first = layer == 0;
      // Scores are divided by sqrt(key_size).
      const double query = sign() * beta_ * std::sqrt(static_cast<double>(dim_));
      parameters.identity(at + "attention.query.weight", first ? query : 0);
      parameters.identity(at + "attention.key.weight", first ? 1 : 0);
      parameters.identity(at + "attention.value.weight", first ? 1 : 0);
      parameters.identity(at + "attention.output.weight", first ? kLength : 0);
      for (const char* map : {"query", "key", "value", "output"})
        parameters.fill(at + "attention." + map + ".bias", 0);
      parameters.fill(at + "norm1.weight", 1);
      if (ffn_width_ == 0) continue;
      for (const char* map : {"up", "down"}) {
        parameters.fill(at + "ffn." + map + ".weight", 0);
        parameters.fill(at + "ffn." + map + ".bias", 0);
      }
      parameters.fill(at + "norm2.weight", 1);
    }
  }

  std::optional<double> expected_loss() const override {
    if (!ExactRetrieval::expected_loss()) return std::nullopt;
    return normalized_softmax_pair_loss(dim_, beta_);
  }

 protected:
  void declare_heads(Fields& f) override {
    f.integer("layers", layers_, {1, 64}, "Layers; those after the first change nothing.");
    f.integer("ffn_width", ffn_width_, {0, 65536}, "Width of the FFNs, whose weights are 0.");
  }

 private:
  static constexpr double kLength = 1e6;
  std::size_t layers_ = 1, ffn_width_ = 2048;
};

}  // namespace

std::unique_ptr<Construction> make_full_rank_encoder() {
  return std::make_unique<FullRankEncoder>();
}

}  // namespace headroom
