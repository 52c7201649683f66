// Distribution shifts of prompts: each against a second reading of its definition on the unshifted
// items of the same stream, and against theory at five standard errors.
#include "tasks/shifts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "core/expect_error.h"
#include "tasks/baseline_scores.h"
#include "tasks/item.h"
#include "tasks/pairs.h"

namespace headroom::shifts_test {

using Names = std::vector<std::string>;

ShiftChoice choice(const TaskConfig& config, const std::string& name) {
  const Names names{name};
  return choose_shifts(config, names).front();
}
ShiftedTask shifted(const TaskConfig& config, const std::string& name, std::uint64_t seed = 1) {
  return shifted_task(config, choice(config, name), seed);
}

// Of an item of a stream, whose last answer is the target's.
Pairs pairs_of(const Task& task, std::uint64_t item) {
  Items items(task, 1);
  sample_one(task, item, items);
  Pairs p(items.input());
  EXPECT_EQ(items.target()(task.shape().predictions - 1, 0),
            static_cast<float>(p.y(p.y.size() - 1)));
  return p;
}

std::vector<BaselineScore> scores_of(const TaskConfig& config, const ShiftedTask& task,
                                     const Names& names, std::size_t n_items) {
  const auto fitted = *fit_baselines(*make_task(config), 0, {.names = names});
  return *score_baselines(fitted, pointers(task.prompts), 0, n_items);
}

TEST(Shifts, NamesAndValuesChoose) {
  const TaskConfig config = regression(4, 6);
  std::vector<ShiftChoice> all = choose_shifts(config, Names{"all"});
  ASSERT_EQ(all.size(), shift_rows().size());
  std::set<std::string> names;
  for (const ShiftChoice& c : all) {
    EXPECT_TRUE(c.left_out.empty() && !c.by_name) << c.name();
    names.insert(c.row->name);
  }
  EXPECT_EQ(names.size(), all.size());
  EXPECT_EQ(choice(config, "scale_x").name(), "scale_x=2");
  EXPECT_EQ(choice(config, "scale_x=0.5").name(), "scale_x=0.5");
  EXPECT_EQ(choice(config, "seen_query").name(), "seen_query");
  // Each once; `all` does not take back that one was asked for by name.
  all = choose_shifts(config, Names{"scale_x=3", "all", "scale_w", "scale_w=2"});
  EXPECT_EQ(all.size(), shift_rows().size() + 1);
  EXPECT_EQ(all.front().name(), "scale_x=3");
  for (const ShiftChoice& c : all)
    EXPECT_EQ(c.by_name, c.name() == "scale_x=3" || c.name() == "scale_w=2") << c.name();
  EXPECT_TRUE(choose_shifts(retrieval(4, 4), Names{}).empty());
}

TEST(Shifts, MistakesSayWhatIsWrong) {
  const auto refused = [](const TaskConfig& config, const std::string& name,
                          std::initializer_list<std::string> parts) {
    expect_error([&] { choice(config, name); }, parts);
  };
  const TaskConfig config = regression(4, 6);
  refused(config, "sclae_x=3", {"unknown shift \"sclae_x=3\"", "'scale_x'?", "scale_w[=FACTOR]"});
  refused(config, "half_space", {"'half_subspace'?"});
  for (const char* value : {"0", "-1", "1001", "nan", "x", ""})
    refused(config, std::string("scale_x=") + value, {"FACTOR", "above 0 and at most 1000"});
  refused(config, "seen_query=1", {"seen_query takes no value"});
  refused(config, "more_points=1", {"not above task.points = 6"});
  refused(config, "more_points=1000000000", {"at most 1000"});
  refused(retrieval(4, 4), "all", {"task.type = nearest_neighbor has none"});
  refused(regression(1, 6), "half_subspace", {"needs 2 dimensions, the task has 1"});
  refused(regression(2, 1), "seen_query", {"needs an example"});
  TaskConfig signs = config;
  signs.type = TaskType::kLinearClassification;
  refused(signs, "scale_w", {"unknown shift \"scale_w\""});
  EXPECT_EQ(choose_shifts(signs, Names{"all"}).size(), shift_rows().size() - 2);
  // Paired tokens ask after all examples alone; `all` says why one is not there.
  TaskConfig paired = config;
  paired.layout = Layout::kPaired;
  refused(paired, "orthogonal_query", {"fewer examples than dimensions", "holds 5", "in 4"});
  for (const ShiftChoice& c : choose_shifts(paired, Names{"all"}))
    EXPECT_EQ(c.left_out.empty(), c.name() != "orthogonal_query") << c.left_out;
}

TEST(Shifts, QueriesAreAskedForAtEvenlySpacedNumbersOfExamples) {
  using Examples = std::vector<std::size_t>;
  const TaskConfig config = regression(20, 41);
  EXPECT_EQ(shifted(config, "random_orthants").examples, (Examples{0, 10, 20, 30, 40}));
  EXPECT_EQ(shifted(config, "seen_query").examples.front(), 1u);
  EXPECT_EQ(shifted(config, "orthogonal_query").examples, (Examples{0, 5, 10, 14, 19}));
  EXPECT_EQ(shifted(regression(20, 3), "opposite_orthants").examples, (Examples{0, 1, 2}));
  EXPECT_EQ(shifted(config, "scale_x").examples.size(), 41u);
  const ShiftedTask longer = shifted(config, "more_points=1.5");
  ASSERT_EQ(longer.prompts.size(), 1u);
  EXPECT_EQ(longer.prompts[0]->shape().tokens, 2 * 62u);
  EXPECT_EQ(longer.examples.size(), 62u);
  for (const auto& task : shifted(config, "seen_query").prompts) {
    const TaskShape shape = task->shape();
    EXPECT_EQ(shape.predictions, 1u);
    EXPECT_EQ(shape.read_at().token(0), 2 * shape.first_position);
    EXPECT_EQ(shape.tokens, 2 * shape.first_position + 2);
  }
}

// x' = A x with the same w: A, found by least squares, is symmetric with the eigenvalues that the
// definition says.
TEST(Shifts, LinearOnesStretchXAlongARandomBasis) {
  constexpr Eigen::Index kDim = 6;
  const TaskConfig config = regression(kDim, 8);
  const std::unique_ptr<Task> plain = make_task(config);
  const auto map_of = [&](const std::string& name, std::uint64_t seed) {
    const ShiftedTask task = shifted(config, name, seed);
    Eigen::MatrixXd x(80, kDim), stretched(80, kDim);
    for (Eigen::Index item = 0; item < 10; ++item) {
      const Pairs a = pairs_of(*plain, static_cast<std::uint64_t>(item)),
                  b = pairs_of(*task.prompts[0], static_cast<std::uint64_t>(item));
      EXPECT_LT((b.x * a.fitted() - b.y).cwiseAbs().maxCoeff(), 1e-4);
      x.middleRows(8 * item, 8) = a.x;
      stretched.middleRows(8 * item, 8) = b.x;
    }
    Eigen::MatrixXd map(kDim, kDim);
    for (Eigen::Index i = 0; i < kDim; ++i) map.row(i) = fitted(x, stretched.col(i)).transpose();
    EXPECT_LT((x * map.transpose() - stretched).cwiseAbs().maxCoeff(), 1e-5);
    EXPECT_LT((map - map.transpose()).cwiseAbs().maxCoeff(), 1e-5);
    return map;
  };
  // Of a symmetric map without negative ones.
  const auto eigenvalues = [](const Eigen::MatrixXd& map) {
    const auto d = static_cast<std::size_t>(map.rows());
    return singular_values({map.data(), d, d, d});
  };
  const Eigen::MatrixXd skewed = map_of("skewed_covariance", 1), half = map_of("half_subspace", 1);
  EXPECT_NEAR(skewed.squaredNorm(), kDim, 1e-5);  // E ||x'||^2 = d
  EXPECT_NEAR(half.squaredNorm(), kDim, 1e-5);
  for (Eigen::Index i = 0; i < kDim; ++i) {
    const double first = eigenvalues(skewed)[0];
    EXPECT_NEAR(eigenvalues(skewed)[static_cast<std::size_t>(i)],
                first / static_cast<double>(i + 1), 1e-5);
    EXPECT_NEAR(eigenvalues(half)[static_cast<std::size_t>(i)], i < kDim / 2 ? std::sqrt(2) : 0,
                1e-5);
  }
  EXPECT_GT((skewed - map_of("skewed_covariance", 2)).norm(), .1);
  EXPECT_GT((half - map_of("half_subspace", 2)).norm(), .1);
}

// The basis is a random rotation: any entry of a projector onto half of d dimensions has mean 1/2
// on the diagonal, 0 beside it, and E P_11^2 = (1/4) (d + 4) / (d + 2).
TEST(Shifts, SubspacesAreUniform) {
  const TaskConfig config = regression(4, 4);
  Sample diagonal, beside, square;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const ShiftedTask task = shifted(config, "half_subspace", seed);
    const Pairs p = pairs_of(*task.prompts[0], 0);
    const auto projected = [&](Eigen::Index axis) {  // onto the span of two points
      const Eigen::MatrixXd axes = p.x.topRows(2).transpose();
      return Eigen::VectorXd(axes * fitted(axes, Eigen::VectorXd::Unit(4, axis)));
    };
    const Eigen::VectorXd first = projected(0), second = projected(1);
    diagonal.add(first(0));
    beside.add(first(1));
    square.add(second(1) * second(1));
  }
  EXPECT_LT(diagonal.sigmas_from(.5), 5);
  EXPECT_LT(beside.sigmas_from(0), 5);
  EXPECT_LT(square.sigmas_from(.25 * 8 / 6), 5);
}

TEST(Shifts, NoiseIsGaussianAndTheVarianceStays) {
  constexpr double kSigma = 1.5;
  const TaskConfig config = regression(3, 5);
  const std::unique_ptr<Task> plain = make_task(config);
  const ShiftedTask task = shifted(config, "noisy_labels=1.5");
  const double factor = std::sqrt(3 / (3 + kSigma * kSigma));
  Sample mean, square, fourth, serial, crossed, variance;
  for (std::uint64_t item = 0; item < 6000; ++item) {
    const Pairs a = pairs_of(*plain, item), b = pairs_of(*task.prompts[0], item);
    ASSERT_EQ(a.x, b.x);
    const Eigen::VectorXd noise = (b.y / factor - a.y) / kSigma;
    mean.add(noise(0));
    square.add(noise(1) * noise(1));
    fourth.add(std::pow(noise(4), 4));
    serial.add(noise(0) * noise(4));
    crossed.add(noise(2) * a.x(2, 0));
    variance.add(b.y(3) * b.y(3));
  }
  EXPECT_LT(mean.sigmas_from(0), 5);
  EXPECT_LT(square.sigmas_from(1), 5);
  EXPECT_LT(fourth.sigmas_from(3), 5);
  EXPECT_LT(serial.sigmas_from(0), 5);
  EXPECT_LT(crossed.sigmas_from(0), 5);
  EXPECT_LT(variance.sigmas_from(3), 5);
}

TEST(Shifts, ScalesMultiply) {
  const TaskConfig config = regression(3, 5);
  const std::unique_ptr<Task> plain = make_task(config);
  const ShiftedTask x = shifted(config, "scale_x=3"), w = shifted(config, "scale_w=0.5");
  EXPECT_DOUBLE_EQ(x.prompts[0]->position_scale(), 27);
  EXPECT_DOUBLE_EQ(w.prompts[0]->position_scale(), .75);
  for (std::uint64_t item = 0; item < 5; ++item) {
    const Pairs a = pairs_of(*plain, item), b = pairs_of(*x.prompts[0], item),
                c = pairs_of(*w.prompts[0], item);
    EXPECT_LT((3 * a.x - b.x).norm() + (3 * a.y - b.y).norm(), 1e-4);
    EXPECT_EQ(a.x, c.x);
    EXPECT_LT((a.y / 2 - c.y).norm(), 1e-5);
  }
}

TEST(Shifts, OrthantsHoldTheExamples) {
  const TaskConfig config = regression(3, 5);
  const std::unique_ptr<Task> plain = make_task(config);
  const ShiftedTask random = shifted(config, "random_orthants"),
                    opposite = shifted(config, "opposite_orthants");
  std::map<int, int> orthants;
  Sample with_length;
  constexpr int kItems = 4000;
  for (std::uint64_t item = 0; item < kItems; ++item) {
    const Pairs a = pairs_of(*plain, item), b = pairs_of(*random.prompts[3], item),
                c = pairs_of(*opposite.prompts[3], item);
    ASSERT_EQ(b.x.rows(), 4);
    int orthant = 0;
    for (Eigen::Index axis = 0; axis < 3; ++axis) {
      const double sign = std::copysign(1, b.x(0, axis));
      orthant = 2 * orthant + (sign > 0 ? 1 : 0);
      for (Eigen::Index i = 0; i < 3; ++i) {
        ASSERT_EQ(b.x(i, axis), sign * std::abs(a.x(i, axis)));
        ASSERT_EQ(c.x(i, axis), b.x(i, axis));  // the same orthant for both shifts
      }
      ASSERT_EQ(b.x(3, axis), a.x(3, axis));
      ASSERT_EQ(c.x(3, axis), -sign * std::abs(a.x(3, axis)));
      if (axis == 0) with_length.add(sign * a.x(0, axis));
    }
    ++orthants[orthant];
    ASSERT_LT((b.x * a.fitted() - b.y).cwiseAbs().maxCoeff(), 1e-4);
  }
  ASSERT_EQ(orthants.size(), 8u);
  for (const auto& [orthant, count] : orthants)
    EXPECT_LT(std::abs(count - kItems / 8.0), 5 * std::sqrt(kItems * 7 / 64.0));
  EXPECT_LT(with_length.sigmas_from(0), 5);  // the orthant does not know x
}

TEST(Shifts, OrthogonalQueriesAreWhatTheExamplesDoNotReach) {
  TaskConfig config = regression(6, 8);
  config.curriculum = CurriculumConfig{.dims = Ramp{.start = 5, .end = 5}, .points = {}};
  const std::unique_ptr<Task> plain = make_task(config);
  const ShiftedTask task = shifted(config, "orthogonal_query");
  ASSERT_EQ(task.examples, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  for (const std::size_t k : task.examples) {
    for (std::uint64_t item = 0; item < 50; ++item) {
      const Pairs a = pairs_of(*plain, item), b = pairs_of(*task.prompts[k], item);
      const auto row = static_cast<Eigen::Index>(k);
      ASSERT_EQ(b.x.topRows(row), a.x.topRows(row));
      ASSERT_LT((b.x.topRows(row) * b.x.row(row).transpose()).norm(), 1e-5);
      ASSERT_NEAR(b.x.row(row).norm(), a.x.row(row).norm(), 1e-5);
      ASSERT_EQ(b.x(row, 5), 0);
      // What is left of x by the best fit from the examples.
      if (k == 0) {
        ASSERT_LT((b.x.row(0) - a.x.row(0)).norm(), 1e-6);
        continue;
      }
      const Eigen::MatrixXd examples = a.x.topRows(row).transpose();
      const Eigen::VectorXd x = a.x.row(row).transpose(), rest = x - examples * fitted(examples, x);
      ASSERT_LT((rest.normalized() - b.x.row(row).transpose().normalized()).norm(), 1e-3);
    }
  }
  // Nothing is known of such a query: least squares answers 0, so that its error is 1.
  const std::vector<BaselineScore> scores = scores_of(config, task, {"least_squares"}, 3000);
  for (const Mean& error : score_of(scores, "least_squares").positions)
    EXPECT_LT(std::abs(error.mean - 1), 5 * error.sem);
}

TEST(Shifts, SeenQueriesAreExamplesChosenUniformly) {
  const TaskConfig config = regression(3, 4);
  const std::unique_ptr<Task> plain = make_task(config);
  const ShiftedTask task = shifted(config, "seen_query");
  std::map<Eigen::Index, int> chosen;
  constexpr int kItems = 3000;
  for (std::uint64_t item = 0; item < kItems; ++item) {
    const Pairs a = pairs_of(*plain, item), b = pairs_of(*task.prompts[2], item);
    ASSERT_EQ(b.x.topRows(3), a.x.topRows(3));
    for (Eigen::Index i = 0; i < 3; ++i) {
      if (b.x.row(3) != a.x.row(i)) continue;
      ++chosen[i];
      ASSERT_EQ(b.y(3), a.y(i));
    }
  }
  ASSERT_EQ(chosen.size(), 3u);
  for (const auto& [i, count] : chosen)
    EXPECT_LT(std::abs(count - kItems / 3.0), 5 * std::sqrt(kItems * 2 / 9.0));
  const std::vector<BaselineScore> scores =
      scores_of(config, task, {"least_squares", "weighted_nearest_1"}, 200);
  for (const char* name : {"least_squares", "weighted_nearest_1"})
    for (const Mean& error : score_of(scores, name).positions) EXPECT_LT(error.mean, 1e-8) << name;
}

// Predicting 0 scores 1 on every task under every shift, whatever the inputs.
TEST(Shifts, ErrorsAreDividedByThatOfPredictingZero) {
  for (const Choice<TaskType>& type : kTaskTypes) {
    if (!is_in_context(type.value) || type.value == TaskType::kLinearClassification) continue;
    for (const bool uniform : {false, true}) {
      // Fourth moments depend on more than a scale.
      if (uniform && type.value != TaskType::kQuadraticRegression) continue;
      TaskConfig config = regression(4, 3);
      config.type = type.value;
      config.sparsity = 2;
      config.hidden = 8;
      config.curriculum = CurriculumConfig{.dims = Ramp{.start = 3, .end = 3}, .points = {}};
      if (uniform) config.input_range = 1.5;
      for (const ShiftChoice& c : choose_shifts(config, Names{"all"})) {
        if (uniform && c.row->below_dims) continue;  // their directions are not all alike
        const ShiftedTask task = shifted_task(config, c, 5);
        const std::vector<BaselineScore> scores = scores_of(config, task, {"zero"}, 800);
        const std::vector<Mean>& positions = scores.front().score.positions;
        ASSERT_EQ(positions.size(), task.examples.size());
        for (const Mean& error : positions)
          EXPECT_LT(std::abs(error.mean - 1), 5 * error.sem) << type.name << " " << c.name();
      }
    }
  }
}

// Scored in a row, tasks have the errors that each has alone, and baselines that are asked for the
// last position alone give what they give at every position.
TEST(Shifts, PromptsAreScoredInARow) {
  const TaskConfig config = regression(3, 6);
  const ShiftedTask task = shifted(config, "opposite_orthants");
  const Names names{"default", "lasso_0.1", "boosted_trees", "two_layer_network"};
  constexpr std::size_t kItems = 6;
  const std::vector<BaselineScore> row = scores_of(config, task, names, kItems);
  const auto fitted = *fit_baselines(*make_task(config), 0, {.names = names});
  std::vector<double> losses(row.size());
  for (std::size_t k = 0; k < task.prompts.size(); ++k) {
    const auto alone = *score_baselines(fitted, *task.prompts[k], 0, kItems);
    for (std::size_t b = 0; b < row.size(); ++b) {
      EXPECT_EQ(alone[b].score.positions.at(0).mean, row[b].score.positions.at(k).mean);
      EXPECT_EQ(alone[b].score.positions.at(0).sem, row[b].score.positions.at(k).sem);
      losses[b] += alone[b].score.loss.mean / static_cast<double>(task.prompts.size());
    }
  }
  for (std::size_t b = 0; b < row.size(); ++b) {
    EXPECT_NEAR(row[b].score.loss.mean, losses[b], 1e-9 * losses[b]) << row[b].name;
    EXPECT_TRUE(row[b].score.metrics.empty());
  }
  Items items(*make_task(config), 1);
  sample_one(*make_task(config), 0, items);
  for (const FittedBaseline& b : fitted) {
    if (std::string(b.choice.row->name) == "two_layer_network") continue;  // draws for each
    std::vector<float> all(6), last(1, -77);
    b.predictor->predict(0, items.input(), {}, {all.data(), {6, 1}});
    b.predictor->predict(0, items.input(), {}, {last.data(), {1, 1}});
    EXPECT_NEAR(last[0], all[5], 1e-4 * (1 + std::abs(all[5]))) << b.choice.name();
  }
}

TEST(Shifts, PairedTokensHoldTheSameShiftedPrompt) {
  TaskConfig config = regression(4, 4);
  const ShiftedTask single = shifted(config, "random_orthants", 7);
  config.layout = Layout::kPaired;
  const ShiftedTask paired = shifted(config, "random_orthants", 7);
  ASSERT_EQ(paired.examples, (std::vector<std::size_t>{3}));
  Items a(*single.prompts.back(), 1), b(*paired.prompts[0], 1);
  sample_one(*single.prompts.back(), 2, a);
  sample_one(*paired.prompts[0], 2, b);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(b.input()(i, c + 1), a.input()(2 * i, c));
  EXPECT_EQ(b.target()(0, 0), a.target()(0, 0));
  const Score from_twin = scores_of(config, paired, {"ridge_1"}, 100).back().score;
  config.layout = Layout::kInterleaved;
  const Score direct = scores_of(config, single, {"ridge_1"}, 100).back().score;
  EXPECT_EQ(from_twin.positions.at(0).mean, direct.positions.at(3).mean);
}

}  // namespace headroom::shifts_test
