// A full-rank head made of low-rank ones by talking heads (science A.7 (7)): head k looks at
// coordinates k r .. (k+1) r - 1, and every mixed score is the sum of all heads' scores,
// sum_k <Q_k y, K_k x> = +-beta <x, y>.
#include <cmath>
#include <string>

#include "core/error.h"
#include "theory/exact_retrieval.h"
#include "theory/makers.h"

namespace headroom {

namespace {

class TalkingHeads final : public ExactRetrieval {
 public:
  ModelConfig model() const override {
    const auto [heads, key_size] = sizes();
    ModelConfig model = ExactRetrieval::model();
    model.attention.heads = heads;
    model.attention.key_size = key_size;
    model.attention.value_size = key_size;
    model.attention.mix_scores = MixInit::kIdentity;
    return model;
  }

  void set(HandSet& parameters) const override {
    // The heads' rows of the identity, one head after the other, are the whole identity.
    const double root = std::sqrt(beta_);
    parameters.identity("layers.0.attention.query.weight", root);
    parameters.identity("layers.0.attention.key.weight", sign() * root);
    parameters.identity("layers.0.attention.value.weight", 1);
    parameters.identity("layers.0.attention.output.weight", 1);
    parameters.fill("layers.0.attention.mix_scores.weight", 1);
  }

 protected:
  void declare_heads(Fields& f) override {
    f.integer("heads", heads_, {1, 4096}, "Heads; null = dim / key_size.");
    f.integer(
        "key_size", key_size_, {1, 4096},
        "Rank of a head, and the size of its values; null = dim / heads, or 8 without heads.");
  }

 private:
  struct Sizes {
    std::size_t heads, key_size;
  };

  Sizes sizes() const {
    const auto text = [](std::size_t n) { return std::to_string(n); };
    if (heads_ && key_size_ && *heads_ * *key_size_ != dim_) {
      throw Error(Exit::kUsage, "heads = " + text(*heads_) + " times key_size = " +
                                    text(*key_size_) + " must be dim = " + text(dim_) +
                                    ": together the heads see every coordinate once");
    }
    const bool by_heads = heads_ && !key_size_;
    const std::size_t part = by_heads ? *heads_ : key_size_.value_or(kDefaultKeySize);
    if (dim_ % part != 0) {
      throw Error(Exit::kUsage, (by_heads ? "heads = " : "key_size = ") + text(part) +
                                    " does not divide dim = " + text(dim_) +
                                    ": together the heads see every coordinate once");
    }
    return by_heads ? Sizes{part, dim_ / part} : Sizes{dim_ / part, part};
  }

  static constexpr std::size_t kDefaultKeySize = 8;
  std::optional<std::size_t> heads_, key_size_;
};

}  // namespace

std::unique_ptr<Construction> make_talking_heads() { return std::make_unique<TalkingHeads>(); }

}  // namespace headroom
