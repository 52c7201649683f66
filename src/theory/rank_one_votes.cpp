// Heads that each choose one of two orthonormal points, and a weighted sum of their choices
// (science A.7 (2) to (4)). A weight a head is what mix_weights holds with one value head.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/linear_algebra.h"
#include "theory/formulas.h"
#include "theory/pair.h"

namespace headroom {

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Votes {
  RowMajor q, k;      // (H r,d), rows of length 1
  Eigen::VectorXd a;  // (H)
};

// C_hg = <f_h, f_g> for head outputs f_h: signs of two Gaussian pairs agree as asin says.
Eigen::MatrixXd agreements(const Votes& v) {
  const auto asin_of = [](const RowMajor& u) {
    return (u * u.transpose()).cwiseMax(-1.0).cwiseMin(1.0).array().asin().eval();
  };
  return (0.5 + 2 / (std::numbers::pi * std::numbers::pi) * asin_of(v.q) * asin_of(v.k)).matrix();
}

// +-N_l lambda_l^3 of the odd degrees l = 1, 3, ..., which falls as l^(-1 - d/2): in two dimensions
// 4000 degrees leave 1e-7.
std::vector<double> degree_shares(std::size_t dim) {
  const std::size_t degrees = dim < 6 ? 4001 : 401;
  const double d = static_cast<double>(dim);
  double log_lambda = std::log(half_sphere_mean(dim)), sign = 1;
  std::vector<double> shares;
  for (std::size_t degree = 1; degree <= degrees; degree += 2) {
    const double l = static_cast<double>(degree);
    shares.push_back(sign * std::exp(log_harmonics(dim, degree) + 3 * log_lambda));
    log_lambda += std::log(l / (l + d));
    sign = -sign;
  }
  return shares;
}

// b_h = <f, f_h> for the wanted output f, by the cosine t of the head's query and key direction.
double agreement_with_target(const std::vector<double>& shares, std::size_t dim, double t) {
  const double d = static_cast<double>(dim);
  double below = 1, at = t, sum = 0;
  for (std::size_t degree = 1; degree < 2 * shares.size(); ++degree) {
    const double l = static_cast<double>(degree);
    if (degree % 2 == 1) sum += shares[degree / 2] * at;
    const double above = ((2 * l + d - 2) * t * at - l * below) / (l + d - 2);
    below = std::exchange(at, above);
  }
  return (1 + sum) / 2;
}

Eigen::VectorXd agreements_with_target(const Votes& v) {
  Eigen::VectorXd b(v.q.rows());
  const auto dim = static_cast<std::size_t>(v.q.cols());
  const std::vector<double> shares = degree_shares(dim);
  for (Eigen::Index h = 0; h < b.size(); ++h)
    b(h) = agreement_with_target(shares, dim, std::clamp(v.q.row(h).dot(v.k.row(h)), -1.0, 1.0));
  return b;
}

class RankOneVotes : public PairConstruction {
 public:
  void declare(Fields& f) override {
    declare_dim(f);
    declare_queries(f);
    declare_heads(f);
    declare_seed(f);
  }

  ModelConfig model() const override {
    ModelConfig model;
    model.width = dim_;
    model.norm.type = NormType::kNone;
    model.ffn.width = 0;
    model.residual = model.bias = false;
    AttentionConfig& a = model.attention;
    a.type = AttentionType::kHard;
    a.kind = AttentionKind::kCross;
    a.heads = heads_;
    a.key_size = 1;
    a.value_size = dim_;
    a.value_heads = 1;
    a.mix_weights = MixInit::kFanIn;
    a.scale = 1.0;
    return model;
  }

  void set(HandSet& parameters) const override {
    const Votes v = votes();
    const auto values = [&](const char* name, const double* data, Eigen::Index size) {
      parameters.values(std::string("layers.0.attention.") + name + ".weight",
                        {data, static_cast<std::size_t>(size)});
    };
    values("query", v.q.data(), v.q.size());
    values("key", v.k.data(), v.k.size());
    values("mix_weights", v.a.data(), v.a.size());
    parameters.identity("layers.0.attention.value.weight", 1);
    parameters.identity("layers.0.attention.output.weight", 1);
  }

  std::optional<double> expected_loss() const override {
    const Votes v = votes();
    return 1 - 2 * agreements_with_target(v).dot(v.a) + v.a.dot(agreements(v) * v.a);
  }

 protected:
  virtual void declare_dim(Fields& f) {
    f.integer("dim", dim_, {2, 4096}, "Dimension d of a point, and the model's width.");
  }
  virtual void declare_heads(Fields& f) {
    f.integer("heads", heads_, {1, 4096}, "Heads of rank 1.");
  }
  virtual Votes votes() const = 0;

  // Votes of equal weight whose keys are their queries, to be filled in.
  Votes equal_votes() const {
    const auto h = static_cast<Eigen::Index>(heads_), d = static_cast<Eigen::Index>(dim_);
    return {RowMajor(h, d), RowMajor(h, d),
            Eigen::VectorXd::Constant(h, 1 / static_cast<double>(heads_))};
  }
};

// Of any rank: head h sees what lies in a random subspace.
class RandomAverage final : public RankOneVotes {
 public:
  TaskConfig task() const override {
    if (key_size_ > dim_) {
      throw Error(Exit::kUsage, "key_size = " + std::to_string(key_size_) +
                                    " is more than dim = " + std::to_string(dim_));
    }
    return RankOneVotes::task();
  }

  ModelConfig model() const override {
    ModelConfig model = RankOneVotes::model();
    model.attention.key_size = key_size_;
    return model;
  }

  // Of rank 1 exact of the directions drawn, else the mean over subspaces.
  std::optional<double> expected_loss() const override {
    return key_size_ == 1 ? RankOneVotes::expected_loss()
                          : average_vote_loss(dim_, key_size_, heads_);
  }

 private:
  void declare_heads(Fields& f) override {
    f.integer("heads", heads_, {1, 4096}, "Heads.");
    f.integer("key_size", key_size_, {1, 4096}, "Rank of a head, at most dim.");
  }

  Votes votes() const override {
    Votes v = equal_votes();
    const auto r = static_cast<Eigen::Index>(key_size_);
    v.q.resize(v.q.rows() * r, v.q.cols());
    Random random(seed_, Purpose::kConstruct, 0, 0);
    for (Eigen::Index i = 0; i < v.q.rows(); ++i) {
      // Orthonormal within a head; the second pass takes what rounding left.
      Eigen::VectorXd u = random_direction(random, dim_);
      const auto head = v.q.middleRows(i / r * r, i % r);
      for (int pass = 0; pass < (i % r > 0 ? 2 : 0); ++pass)
        u = (u - head.transpose() * (head * u)).normalized();
      v.q.row(i) = u;
    }
    v.k = v.q;
    return v;
  }

  std::size_t key_size_ = 1;
};

class EqualSpacing final : public RankOneVotes {
  void declare_dim(Fields&) override { dim_ = 2; }
  Votes votes() const override {
    Votes v = equal_votes();
    for (Eigen::Index h = 0; h < v.q.rows(); ++h) {
      const double angle =
          std::numbers::pi * static_cast<double>(h) / static_cast<double>(v.q.rows());
      v.q.row(h) << std::cos(angle), std::sin(angle);
    }
    v.k = v.q;
    return v;
  }
};

class WeightedRandom final : public RankOneVotes {
  Votes votes() const override {
    Votes v = equal_votes();
    Random random(seed_, Purpose::kConstruct, 1, 0);
    for (Eigen::Index h = 0; h < v.q.rows(); ++h) {
      const Eigen::VectorXd q = random_direction(random, dim_);
      const double cosine = random.uniform(-1, 1);
      Eigen::VectorXd e = random_direction(random, dim_);
      e = (e - e.dot(q) * q).normalized();
      v.q.row(h) = q;
      v.k.row(h) = (cosine * q + std::sqrt(1 - cosine * cosine) * e).normalized();
    }
    const RowMajor c = agreements(v);
    const Eigen::VectorXd b = agreements_with_target(v);
    const std::vector<double> a =
        solve_definite({c.data(), heads_, heads_, heads_}, {b.data(), heads_});
    std::copy(a.begin(), a.end(), v.a.begin());
    return v;
  }
};

}  // namespace

std::unique_ptr<Construction> make_random_average() { return std::make_unique<RandomAverage>(); }
std::unique_ptr<Construction> make_equal_spacing() { return std::make_unique<EqualSpacing>(); }
std::unique_ptr<Construction> make_weighted_random() { return std::make_unique<WeightedRandom>(); }

}  // namespace headroom
