// The in-context tasks: what each draws, against a second reading of its definition and against
// theory at five standard errors; pools, layouts and inputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "baselines/baseline.h"
#include "tasks/item.h"
#include "tasks/pairs.h"
#include "tasks/score.h"

namespace headroom::function_classes_test {

TaskConfig of_type(TaskType type, std::size_t dim, std::size_t points) {
  TaskConfig config = regression(dim, points);
  config.type = type;
  return config;
}

std::vector<TaskConfig> function_classes(std::size_t dim, std::size_t points) {
  std::vector<TaskConfig> configs;
  for (const auto& type : kTaskTypes) {
    if (is_in_context(type.value)) configs.push_back(of_type(type.value, dim, points));
  }
  return configs;
}

// E y = 0 and E y^2 = position_scale(), at the first and the last point, for Gaussian and uniform
// inputs and where the curriculum ends below dim. Signs have y^2 = 1 always.
TEST(FunctionClasses, AnswersHaveTheMeanAndTheSquareThatTheyAreDividedBy) {
  for (TaskConfig config : function_classes(5, 3)) {
    config.sparsity = 2;
    config.hidden = 10;
    for (const int variant : {0, 1, 2}) {
      config.input_range.reset();
      config.curriculum.reset();
      if (variant == 1) config.input_range = 1.5;
      if (variant == 2)
        config.curriculum = CurriculumConfig{.dims = Ramp{.start = 2, .end = 3}, .points = {}};
      const std::unique_ptr<Task> task = make_task(config);
      Items items(*task, 1);
      Sample mean, first, last;
      for (std::uint64_t item = 0; item < 8000; ++item) {
        sample_one(*task, item, items);
        const double a = items.target()(0, 0), b = items.target()(2, 0);
        mean.add(a);
        first.add(a * a);
        last.add(b * b);
      }
      const auto& name = kTaskTypes[static_cast<std::size_t>(config.type)].name;
      EXPECT_LT(mean.sigmas_from(0), 5) << name << variant;
      if (config.type == TaskType::kLinearClassification) {
        EXPECT_EQ(first.mean(), 1);
        EXPECT_EQ(task->position_scale(), 1);
      } else {
        EXPECT_LT(first.sigmas_from(task->position_scale()), 5) << name << variant;
        EXPECT_LT(last.sigmas_from(task->position_scale()), 5) << name << variant;
      }
    }
  }
}

TEST(FunctionClasses, ScalesAreThePapers) {
  const auto scale = [](TaskType type) {
    return make_task(of_type(type, 20, 4))->position_scale();
  };
  EXPECT_DOUBLE_EQ(scale(TaskType::kLinearRegression), 20);
  EXPECT_DOUBLE_EQ(scale(TaskType::kSparseLinearRegression), 3);
  EXPECT_DOUBLE_EQ(scale(TaskType::kReluNetworkRegression), 20);
  EXPECT_DOUBLE_EQ(scale(TaskType::kQuadraticRegression), 20);
  EXPECT_DOUBLE_EQ(scale(TaskType::kDecisionTree), 1);
}

// Least squares finds the same w as the sampler; its support is a uniform subset of the first dims.
TEST(SparseLinearRegression, DrawsAUniformSupportAmongTheCoordinatesInUse) {
  TaskConfig config = of_type(TaskType::kSparseLinearRegression, 6, 6);
  config.sparsity = 2;
  const std::unique_ptr<Task> task = make_task(config);
  Items items(*task, Stage{4, 6}, 1);
  std::map<std::pair<int, int>, int> supports;
  Sample square, fourth;
  constexpr int kItems = 6000;
  for (std::uint64_t item = 0; item < kItems; ++item) {
    Random random(1, Purpose::kTest, 0, item);
    task->sample(random, {4, 6}, items.input(), {}, items.target());
    const Pairs p(items.input());
    const Eigen::VectorXd w = fitted(p.x.leftCols(4), p.y);
    ASSERT_LT((p.x.leftCols(4) * w - p.y).cwiseAbs().maxCoeff(), 1e-4);
    std::vector<int> support;
    for (int c = 0; c < 4; ++c)
      if (std::abs(w(c)) > 1e-4) support.push_back(c);
    ASSERT_LE(support.size(), 2u);
    if (support.size() < 2) continue;  // an entry too small to be seen
    ++supports[{support[0], support[1]}];
    square.add(w(support[0]) * w(support[0]));
    fourth.add(std::pow(w(support[1]), 4));
  }
  ASSERT_EQ(supports.size(), 6u);
  for (const auto& [pair, count] : supports)
    EXPECT_LT(std::abs(count - kItems / 6.0), 5 * std::sqrt(kItems * 5 / 36.0) + 5);
  EXPECT_LT(square.sigmas_from(1), 5);
  EXPECT_LT(fourth.sigmas_from(3), 5);
}

// y is homogeneous and even-odd as the definition says, which the moments above cannot see: along
// one direction a network is piecewise linear, a quadratic form without cross terms is a sum.
TEST(QuadraticRegression, IsLinearInTheSquares) {
  const std::unique_ptr<Task> task = make_task(of_type(TaskType::kQuadraticRegression, 3, 8));
  Items items(*task, 1);
  Sample square;
  for (std::uint64_t item = 0; item < 3000; ++item) {
    sample_one(*task, item, items);
    const Pairs p(items.input());
    const Eigen::MatrixXd features = p.x.array().square() / std::sqrt(3.0);
    const Eigen::VectorXd w = fitted(features, p.y);
    ASSERT_LT((features * w - p.y).cwiseAbs().maxCoeff(), 1e-4);
    square.add(w(1) * w(1));
  }
  EXPECT_LT(square.sigmas_from(1), 5);
}

// A second reading of the definition, from the same stream.
TEST(ReluNetworkRegression, AgreesWithTheNetworkWrittenOut) {
  TaskConfig config = of_type(TaskType::kReluNetworkRegression, 3, 4);
  config.hidden = 7;
  const std::unique_ptr<Task> task = make_task(config);
  Items items(*task, 1);
  for (std::uint64_t item = 0; item < 20; ++item) {
    sample_one(*task, item, items);
    Random random(1, Purpose::kTest, 0, item);
    std::vector<float> x(12), w(3);
    random.fill_normal(x);
    double y[4] = {};
    for (int unit = 0; unit < 7; ++unit) {
      random.fill_normal(w);
      const double out = random.normal();
      for (std::size_t i = 0; i < 4; ++i) {
        double sum = 0;
        for (std::size_t c = 0; c < 3; ++c) sum += double{w[c]} * double{x[3 * i + c]};
        y[i] += std::sqrt(2.0 / 7) * out * std::max(sum, 0.0);
      }
    }
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(items.target()(i, 0), y[i], 1e-5);
  }
}

TEST(LinearClassification, SignsAreThoseOfALinearMap) {
  // A separating w exists: the perceptron finds it.
  const std::unique_ptr<Task> task = make_task(of_type(TaskType::kLinearClassification, 3, 12));
  EXPECT_EQ(task->shape().loss, LossType::kLogistic);
  Items items(*task, 1);
  Sample agree;
  for (std::uint64_t item = 0; item < 300; ++item) {
    sample_one(*task, item, items);
    const Pairs p(items.input());
    Eigen::VectorXd w = Eigen::VectorXd::Zero(3);
    bool separated = false;
    for (int round = 0; round < 100000 && !separated; ++round) {
      separated = true;
      for (Eigen::Index i = 0; i < 12; ++i) {
        ASSERT_EQ(std::abs(p.y(i)), 1);
        if (p.y(i) * p.x.row(i).dot(w) <= 0) {
          w += p.y(i) * p.x.row(i).transpose();
          separated = false;
        }
      }
    }
    ASSERT_TRUE(separated) << item;
    agree.add(p.y(0) * p.y(1));
  }
  EXPECT_LT(agree.sigmas_from(0), 5);  // x and -x are equally likely
}

TEST(LinearClassification, IsScoredByCrossEntropyAndSigns) {
  const std::unique_ptr<Task> task = make_task(of_type(TaskType::kLinearClassification, 2, 4));
  ScoreSheet sheet(*task, task->final_stage());
  float input[16] = {}, target[4] = {1, -1, 1, -1}, output[4] = {2, 1, 0, -1e4f};
  sheet.add({input, {8, 2}}, {target, {4, 1}}, {output, {4, 1}});
  const Score score = sheet.score();
  const double loss = std::log1p(std::exp(-2.0)) + std::log1p(std::exp(1.0)) + std::log(2.0);
  EXPECT_NEAR(score.loss.mean, loss / 4, 1e-12);
  EXPECT_DOUBLE_EQ(score.metrics.at(0).mean, 2.5 / 4);
  const double wrong[4] = {0, 1, 0.5, 0};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(score.positions[i].mean, wrong[i]);
  EXPECT_EQ(wrong_sign(std::nanf(""), 1), 1);
}

// y depends on the signs of x alone, takes at most 2^depth values, and at depth 1 asks for each
// coordinate equally often.
TEST(DecisionTree, AsksForSignsOfSingleCoordinates) {
  TaskConfig config = of_type(TaskType::kDecisionTree, 4, 60);
  config.depth = 1;
  const std::unique_ptr<Task> stump = make_task(config);
  Items items(*stump, 1);
  std::vector<int> asked(4);
  constexpr int kItems = 2000;
  for (std::uint64_t item = 0; item < kItems; ++item) {
    sample_one(*stump, item, items);
    const Pairs p(items.input());
    std::vector<int> explains;
    for (int c = 0; c < 4; ++c) {
      std::set<double> positive, negative;
      for (Eigen::Index i = 0; i < p.y.size(); ++i)
        (p.x(i, c) > 0 ? positive : negative).insert(p.y(i));
      if (positive.size() == 1 && negative.size() == 1) explains.push_back(c);
    }
    ASSERT_EQ(explains.size(), 1u);
    ++asked[static_cast<std::size_t>(explains[0])];
  }
  for (const int count : asked)
    EXPECT_LT(std::abs(count - kItems / 4.0), 5 * std::sqrt(kItems * 3 / 16.0));
  config.depth = 3;
  const std::unique_ptr<Task> tree = make_task(config);
  std::size_t most = 0;
  for (std::uint64_t item = 0; item < 200; ++item) {
    sample_one(*tree, item, items);
    const Pairs p(items.input());
    std::map<int, double> by_signs;
    std::set<double> leaves;
    for (Eigen::Index i = 0; i < p.y.size(); ++i) {
      int signs = 0;
      for (int c = 0; c < 4; ++c) signs = 2 * signs + (p.x(i, c) > 0 ? 1 : 0);
      ASSERT_EQ(by_signs.try_emplace(signs, p.y(i)).first->second, p.y(i));
      leaves.insert(p.y(i));
    }
    most = std::max(most, leaves.size());
  }
  EXPECT_EQ(most, 8u);
}

TEST(InContext, UniformInputsFillTheirRange) {
  TaskConfig config = regression(2, 4);
  config.input_range = 0.5;
  const std::unique_ptr<Task> task = make_task(config);
  EXPECT_DOUBLE_EQ(task->position_scale(), 2 * 0.25 / 3);
  Items items(*task, 1);
  Sample square, fourth;
  double largest = 0;
  for (std::uint64_t item = 0; item < 8000; ++item) {
    sample_one(*task, item, items);
    const double x = items.input()(0, 1);
    largest = std::max(largest, std::abs(x));
    square.add(x * x);
    fourth.add(x * x * x * x);
  }
  EXPECT_LE(largest, 0.5);
  EXPECT_GT(largest, 0.499);
  EXPECT_LT(square.sigmas_from(0.25 / 3), 5);
  EXPECT_LT(fourth.sigmas_from(0.0625 / 5), 5);
}

TEST(InContext, PairedTokensHoldTheSamePromptAndHideTheLastAnswer) {
  for (TaskConfig config : function_classes(3, 5)) {
    const std::unique_ptr<Task> single = make_task(config);
    config.layout = Layout::kPaired;
    const std::unique_ptr<Task> paired = make_task(config);
    const TaskShape shape = paired->shape();
    EXPECT_EQ(shape.tokens, 5u);
    EXPECT_EQ(shape.input_dim, 4u);
    EXPECT_EQ(shape.predictions, 1u);
    EXPECT_EQ(shape.read_at().token(0), 4u);
    EXPECT_EQ(shape.first_position, 4u);
    EXPECT_EQ(paired->shape({3, 2}).read_at().token(0), 1u);
    Items a(*single, 1), b(*paired, 1);
    sample_one(*single, 3, a);
    sample_one(*paired, 3, b);
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(b.input()(i, 0), i < 4 ? a.target()(i, 0) : 0);
      for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(b.input()(i, c + 1), a.input()(2 * i, c));
    }
    EXPECT_EQ(b.target()(0, 0), a.target()(4, 0));
    EXPECT_EQ(interleaved(*single), nullptr);
    EXPECT_EQ(interleaved(*paired)->shape().tokens, 10u);
  }
}

// Baselines of paired prompts are those of the last position of interleaved ones.
TEST(InContext, BaselinesReadPairedPrompts) {
  TaskConfig config = regression(3, 3);
  const std::vector<BaselineScore> all = *evaluate_baselines(*make_task(config), 0, 200);
  config.layout = Layout::kPaired;
  const std::vector<BaselineScore> last = *evaluate_baselines(*make_task(config), 0, 200);
  ASSERT_EQ(all.size(), last.size());
  for (std::size_t b = 0; b < all.size(); ++b) {
    ASSERT_EQ(last[b].score.positions.size(), 1u);
    EXPECT_EQ(last[b].score.first_position, 2u);
    EXPECT_DOUBLE_EQ(last[b].score.positions[0].mean, all[b].score.positions[2].mean);
    EXPECT_NEAR(last[b].score.loss.mean, 3 * all[b].score.positions[2].mean, 1e-9);
  }
}

// The functions of a pool: few, reused at fresh points, the same whatever the step and the batch;
// evaluations see none of them. A pool may be smaller than the batch.
TEST(InContext, PoolsAreFiniteAndTrainingAloneSeesThem) {
  for (const PoolOf what : {PoolOf::kTasks, PoolOf::kPrompts}) {
    TaskConfig config = regression(2, 3);
    config.pool = 4;
    config.pool_of = what;
    const std::unique_ptr<Task> task = make_task(config);
    Items items(*task, 64);
    std::map<std::pair<int, int>, int> functions;
    std::set<std::vector<float>> prompts;
    const auto draw = [&](Purpose purpose, std::uint64_t seed, std::uint64_t step) {
      sample_batch(*task, seed, purpose, step, 0, task->final_stage(), items.batch);
      for (std::size_t b = 0; b < 64; ++b) {
        const Pairs p(items.input(b));
        const Eigen::VectorXd w = p.fitted();
        ++functions[{static_cast<int>(std::lround(w(0) * 100)),
                     static_cast<int>(std::lround(w(1) * 100))}];
        const auto flat = items.input(b).flat();
        prompts.insert(std::vector<float>(flat.begin(), flat.end()));
      }
    };
    draw(Purpose::kTrain, 7, 1);
    draw(Purpose::kTrain, 7, 2);
    draw(Purpose::kTrain, 7, 300);
    EXPECT_LE(functions.size(), 8u);  // four, and their roundings
    EXPECT_EQ(prompts.size(), what == PoolOf::kPrompts ? 4u : 192u);
    const auto before = functions;
    draw(Purpose::kEval, 7, 0);
    EXPECT_GT(functions.size(), before.size() + 50);
    functions.clear();
    draw(Purpose::kTrain, 8, 1);
    for (const auto& [w, count] : functions) EXPECT_EQ(before.count(w), 0u);
  }
}

// Every member is drawn equally often, each item for itself.
TEST(InContext, PoolsAreDrawnUniformly) {
  TaskConfig config = regression(1, 1);
  config.pool = 3;
  config.pool_of = PoolOf::kPrompts;
  const std::unique_ptr<Task> task = make_task(config);
  Items items(*task, 6000);
  sample_batch(*task, 1, Purpose::kTrain, 5, 0, task->final_stage(), items.batch);
  std::map<float, int> counts;
  for (std::size_t b = 0; b < 6000; ++b) ++counts[items.target(b)(0, 0)];
  ASSERT_EQ(counts.size(), 3u);
  for (const auto& [y, count] : counts)
    EXPECT_LT(std::abs(count - 2000.0), 5 * std::sqrt(6000 * 2 / 9.0));
}

}  // namespace headroom::function_classes_test
