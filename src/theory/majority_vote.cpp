// Two layers of rank-1 heads choose by majority between two orthonormal points (science A.7 (5);
// the idea of Amsel, Yehudai, Bruna 2025, Theorem 5, whose positions are concatenated). A token
// holds [x | s | out | p]: the point or query, the votes, the answer, and the position, p = 1 of
// x_1 and -1 of x_2.
#include <vector>

#include "core/rng.h"
#include "theory/formulas.h"
#include "theory/pair.h"

namespace headroom {

namespace {

// A matrix that is 0 but where it is said.
struct Sparse {
  std::size_t cols;
  std::vector<double> values;
  Sparse(std::size_t rows, std::size_t columns) : cols(columns), values(rows * columns, 0.0) {}
  double& operator()(std::size_t i, std::size_t j) { return values[i * cols + j]; }
};

class MajorityVote final : public PairConstruction {
 public:
  void declare(Fields& f) override {
    f.integer("dim", dim_, {2, 1024}, "Dimension d of a point; the model's width is 2 d + 2.");
    declare_queries(f);
    f.integer("heads", heads_, {1, 16384}, "Heads of rank 1 in each layer.");
    declare_seed(f);
  }

  ModelConfig model() const override {
    ModelConfig model;
    model.layers = 2;
    model.width = 2 * dim_ + 2;
    model.read_in = ReadIn::kLinear;
    model.read_out = ReadOut::kLinear;
    model.positions.type = PositionsType::kConcatenated;
    model.positions.width = 1;
    model.norm.type = NormType::kNone;
    model.ffn.width = 0;
    model.bias = false;
    AttentionConfig& a = model.attention;
    a.type = AttentionType::kHard;
    a.kind = AttentionKind::kCross;
    a.heads = heads_;
    a.key_size = 1;
    a.value_size = value_size();
    a.scale = 1.0;
    return model;
  }

  void set(HandSet& parameters) const override {
    const std::size_t width = 2 * dim_ + 2, s = dim_, out = dim_ + 1, p = 2 * dim_ + 1;
    const std::size_t values = heads_ * value_size();
    Sparse read_in(width - 1, dim_), read_out(dim_, width);
    for (std::size_t c = 0; c < dim_; ++c) read_in(c, c) = read_out(c, out + c) = 1;
    parameters.values("read_in.weight", read_in.values);
    parameters.values("read_out.weight", read_out.values);
    // Queries have these positions too; no head asks for them.
    std::vector<double> positions(std::max<std::size_t>(2, task().queries.value_or(16)), 0.0);
    positions[0] = 1;
    positions[1] = -1;
    parameters.values("positions.weight", positions);

    // Head h asks for u_h along u_h and adds the position of what it finds to s: the sum, not the
    // mean, which rounds to 0 where votes are equal in number.
    Sparse direction(heads_, width), vote(values, width), count(width, values);
    Random random(seed_, Purpose::kConstruct, 2, 0);
    for (std::size_t h = 0; h < heads_; ++h) {
      const Eigen::VectorXd u = random_direction(random, dim_);
      for (std::size_t c = 0; c < dim_; ++c) direction(h, c) = u(static_cast<Eigen::Index>(c));
      vote(h * value_size(), p) = 1;
      count(s, h * value_size()) = 1;
    }
    parameters.values("layers.0.attention.query.weight", direction.values);
    parameters.values("layers.0.attention.key.weight", direction.values);
    parameters.values("layers.0.attention.value.weight", vote.values);
    parameters.values("layers.0.attention.output.weight", count.values);

    // Every head takes the point whose position has the sign of s; together they carry all of it.
    Sparse ask(heads_, width), answer(heads_, width), point(values, width), write(width, values);
    for (std::size_t h = 0; h < heads_; ++h) ask(h, s) = answer(h, p) = 1;
    for (std::size_t c = 0; c < dim_; ++c) point(c, c) = write(out + c, c) = 1;
    parameters.values("layers.1.attention.query.weight", ask.values);
    parameters.values("layers.1.attention.key.weight", answer.values);
    parameters.values("layers.1.attention.value.weight", point.values);
    parameters.values("layers.1.attention.output.weight", write.values);
  }

  std::optional<double> expected_loss() const override { return majority_vote_loss(dim_, heads_); }

 private:
  std::size_t value_size() const { return (dim_ + heads_ - 1) / heads_; }
};

}  // namespace

std::unique_ptr<Construction> make_majority_vote() { return std::make_unique<MajorityVote>(); }

}  // namespace headroom
