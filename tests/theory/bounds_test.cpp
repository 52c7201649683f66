#include "theory/bounds.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "model/model.h"

namespace headroom::bounds_test {

TEST(Bounds, AreThoseOfTheTable) {  // science A.8
  struct Row {
    std::size_t dim, rank;
    std::array<double, 6> bounds;
  };
  for (const Row& row : {Row{16, 1, {.166, .154, .111, .079, .050, .027}},
                         Row{16, 4, {.141, .105, .083, .044, .025, .011}},
                         Row{16, 8, {.086, .062, .047, .015, .006, .001}},
                         Row{64, 1, {.178, .177, .163, .141, .114, .084}},
                         Row{64, 8, {.169, .124, .119, .098, .078, .060}},
                         Row{64, 16, {.122, .108, .094, .074, .060, .046}},
                         Row{64, 32, {.090, .072, .062, .047, .036, .026}}}) {
    const std::size_t d = row.dim, root = d == 16 ? 4 : 8;
    const std::array<std::size_t, 6> heads{d / row.rank, d * root / row.rank, d * d / row.rank,
                                           10'000,       1'000'000,           1'000'000'000};
    for (std::size_t i = 0; i < heads.size(); ++i)
      EXPECT_NEAR(pair_lower_bound(d, row.rank, heads[i]), row.bounds[i], .002)
          << d << " " << row.rank << " " << heads[i];
  }
}

TEST(Bounds, FallWithHeadsAndRankAndVanishAtFullRank) {
  for (const std::size_t dim : {3u, 6u, 16u, 64u, 500u}) {
    for (std::size_t rank = 1; rank <= dim; rank += 1 + dim / 9)
      for (std::size_t heads = 1; heads < 100'000; heads *= 7) {
        const double bound = pair_lower_bound(dim, rank, heads);
        EXPECT_GE(bound, 0);
        EXPECT_LE(bound, .5);
        EXPECT_LE(pair_lower_bound(dim, rank, heads + 1), bound + 1e-15);
        EXPECT_LE(pair_lower_bound(dim, rank + 1, heads), bound + 1e-15);
      }
    EXPECT_EQ(pair_lower_bound(dim, dim, 1), 0);
    EXPECT_EQ(pair_lower_bound(dim, dim - 1, 1), 0);
  }
}

TEST(Bounds, ApplyToNothingButTheirScope) {
  TaskConfig task;
  task.dim = 8;
  task.points = 2;
  task.points_from = PointsFrom::kOrthonormal;
  task.query = QueryMode::kSeparate;
  ModelConfig model;
  model.width = 8;
  model.norm.type = NormType::kNone;
  model.ffn.width = 0;
  model.residual = false;
  model.attention.kind = AttentionKind::kCross;
  model.attention.heads = std::size_t{4};
  model.attention.copies = 3;
  const auto layer = [](const TaskConfig& t, const ModelConfig& m) {
    return bounded_layer(t, resolve(m, {t.dim, t.dim, t.points, 2}));
  };
  ASSERT_TRUE(layer(task, model));
  // Theorem 2 speaks of five dimensions and more, and of ranks below full.
  const BoundRow& theorem = bound_rows()[0];
  EXPECT_TRUE(theorem.says({.dim = 5, .rank = 4, .heads = 1}));
  EXPECT_FALSE(theorem.says({.dim = 5, .rank = 5, .heads = 1}));
  EXPECT_FALSE(theorem.says({.dim = 4, .rank = 1, .heads = 1}));
  EXPECT_EQ(layer(task, model)->rank, 2u);
  EXPECT_EQ(layer(task, model)->heads, 12u);
  const auto with = [&](auto&& change) {
    TaskConfig t = task;
    ModelConfig m = model;
    change(t, m);
    return layer(t, m);
  };
  EXPECT_EQ(with([](auto&, auto& m) { m.attention.mix_scores = MixInit::kIdentity; })->rank, 8u);
  EXPECT_EQ(with([](auto&, auto& m) { m.attention.mix_weights = MixInit::kIdentity; })->rank, 2u);
  EXPECT_FALSE(with([](auto& t, auto&) { t.points = 3; }));
  EXPECT_FALSE(with([](auto& t, auto&) { t.points_from = PointsFrom::kSphere; }));
  EXPECT_FALSE(with([](auto&, auto& m) { m.residual = true; }));
  EXPECT_FALSE(with([](auto&, auto& m) { m.layers = 2; }));
  EXPECT_FALSE(with([](auto&, auto& m) { m.ffn.width = 4; }));
  EXPECT_FALSE(with([](auto&, auto& m) { m.norm.type = NormType::kL2; }));
  EXPECT_FALSE(with([](auto&, auto& m) { m.attention.type = AttentionType::kLinear; }));
  EXPECT_FALSE(with([](auto&, auto& m) { m.positions.type = PositionsType::kLearned; }));
}

}  // namespace headroom::bounds_test
