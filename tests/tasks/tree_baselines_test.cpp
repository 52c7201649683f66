// Trees, the network and weighted neighbours against brute force and against other libraries.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <vector>

#include "baselines/regression_tree.h"
#include "baselines/two_layer_network.h"
#include "tasks/prompts.h"

namespace headroom::tree_baselines_test {

double squared_error(const std::vector<double>& values) {
  double mean = 0, error = 0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  for (const double v : values) error += (v - mean) * (v - mean);
  return error;
}

// Every threshold of every coordinate tried, from scratch.
double brute_force(const HandPrompt& prompt, std::vector<std::size_t> members, std::size_t depth,
                   std::size_t asked) {
  std::vector<double> y;
  for (const std::size_t i : members) y.push_back(prompt.y(i));
  const auto mean = [&] {
    double sum = 0;
    for (const double v : y) sum += v;
    return sum / static_cast<double>(y.size());
  };
  if (depth == 0 || members.size() < 2) return mean();
  double least = squared_error(y);
  std::optional<std::pair<std::size_t, double>> best;
  for (std::size_t c = 0; c < prompt.d; ++c) {
    std::set<double> levels;
    for (const std::size_t i : members) levels.insert(prompt.x(i, c));
    for (auto at = levels.begin(); std::next(at) != levels.end(); ++at) {
      const double threshold = (*at + *std::next(at)) / 2;
      std::vector<double> low, high;
      for (const std::size_t i : members)
        (prompt.x(i, c) <= threshold ? low : high).push_back(prompt.y(i));
      const double error = squared_error(low) + squared_error(high);
      if (error < least - 1e-9) {
        least = error;
        best = {c, threshold};
      }
    }
  }
  if (!best) return mean();
  const bool low = prompt.x(asked, best->first) <= best->second;
  std::erase_if(members,
                [&](std::size_t i) { return (prompt.x(i, best->first) <= best->second) != low; });
  return brute_force(prompt, members, depth - 1, asked);
}

TEST(DecisionTree, AgreesWithBruteForce) {
  for (std::uint64_t item = 0; item < 10; ++item) {
    const HandPrompt prompt = random_prompt(24, 3, item, .5);
    for (const auto& [name, depth] : {std::pair{"tree_2", 2u}, {"tree_4", 4u}, {"tree", 99u}}) {
      const std::vector<float> y = prompt.predict(name);
      EXPECT_EQ(y[0], 0);
      std::vector<std::size_t> members;
      for (std::size_t k = 1; k < prompt.n; ++k) {
        members.push_back(k - 1);
        ASSERT_NEAR(y[k], brute_force(prompt, members, depth, k), 1e-5)
            << name << " " << item << " " << k;
      }
    }
  }
}

TEST(DecisionTree, TiesConstantsAndEqualPointsEnd) {
  // Equal x with different y cannot be split; equal y need not be.
  const auto steps = [](std::size_t i) { return static_cast<float>(i); };
  const HandPrompt same(
      5, 2, [](std::size_t, std::size_t) { return 1.0f; }, steps);
  EXPECT_EQ(same.predict("tree"), (std::vector<float>{0, 0, .5f, 1, 1.5f}));
  const HandPrompt flat(
      4, 2, [&](std::size_t i, std::size_t) { return steps(i); }, [](std::size_t) { return 3.0f; });
  EXPECT_EQ(flat.predict("tree"), (std::vector<float>{0, 3, 3, 3}));
  // Neighbouring floats, whose midpoint is one of them.
  const float next = std::nextafter(1.0f, 2.0f);
  const HandPrompt close(
      3, 1, [&](std::size_t i, std::size_t) { return i == 1 ? next : 1.0f; }, steps);
  EXPECT_EQ(close.predict("tree")[2], 0);
}

TEST(SortedExamples, StaySortedAndSplitInTwo) {
  SortedExamples examples(2, 6);
  const float rows[][2] = {{3, 1}, {1, 1}, {2, 5}, {1, 0}, {4, 2}, {0, 3}};
  for (const auto& row : rows) examples.add(row);
  const auto order = examples.order(0);
  EXPECT_EQ(std::vector<std::uint32_t>(order.begin(), order.end()),
            (std::vector<std::uint32_t>{5, 1, 3, 2, 0, 4}));
  TreeGrower grower(examples, 0);
  const Node root = grower.root();
  const std::vector<double> y{10, 0, 0, 0, 10, 0};
  const auto split = grower.best_split(root, y);
  ASSERT_TRUE(split);
  EXPECT_EQ(split->coordinate, 0u);
  EXPECT_EQ(split->threshold, 2.5f);
  EXPECT_NEAR(split->gain, 2 * 100 - 20 * 20 / 6., 1e-12);
  const auto [low, high] = grower.divide(root, *split);
  const auto members = [&](Node node) {
    std::set<std::uint32_t> all;
    grower.for_members(node, [&](std::uint32_t i) { all.insert(i); });
    return all;
  };
  EXPECT_EQ(members(low), (std::set<std::uint32_t>{1, 2, 3, 5}));
  EXPECT_EQ(members(high), (std::set<std::uint32_t>{0, 4}));
}

// Both parts of a first split too, on coordinates that fill a block of lanes and that do not, with
// and without equal ones among them.
TEST(TreeGrower, TheBestSplitIsTheBestOfAll) {
  Random random(7, Purpose::kTest, 0, 0);
  for (const std::size_t d : {1u, 3u, 4u, 5u, 9u}) {
    for (const bool equal_ones : {false, true}) {
      const std::size_t n = 17;
      SortedExamples examples(d, n);
      std::vector<std::vector<float>> x(n, std::vector<float>(d));
      std::vector<double> y(n);
      for (std::size_t i = 0; i < n; ++i) {
        for (float& value : x[i]) {
          const float drawn = static_cast<float>(random.normal());
          value = equal_ones ? std::round(drawn) : drawn;
        }
        examples.add(x[i].data());
        y[i] = random.normal();
      }
      EXPECT_EQ(examples.all_differ(), !equal_ones);
      const double lambda = .5;
      TreeGrower grower(examples, lambda);
      const auto check = [&](Node node) {
        const auto part = [&](const auto& belongs) {
          double sum = 0, number = 0;
          grower.for_members(node, [&](std::uint32_t i) {
            if (!belongs(i)) return;
            sum += y[i];
            ++number;
          });
          return number == 0 ? 0 : sum * sum / (number + lambda);
        };
        const auto gain_of = [&](std::size_t c, float threshold) {
          const auto low = [&](std::uint32_t i) { return x[i][c] <= threshold; };
          return part(low) + part(std::not_fn(low)) - part([](std::uint32_t) { return true; });
        };
        double most = 0;
        for (std::size_t c = 0; c < d; ++c) {
          for (std::size_t i = 0; i < n; ++i) most = std::max(most, gain_of(c, x[i][c]));
        }
        const std::optional<Split> split = grower.best_split(node, y);
        ASSERT_TRUE(split) << d << " " << equal_ones;
        EXPECT_NEAR(split->gain, most, 1e-9) << d << " " << equal_ones;
        EXPECT_NEAR(gain_of(split->coordinate, split->threshold), most, 1e-9);
      };
      check(grower.root());
      const TreeGrower::Parts parts =
          grower.divide(grower.root(), *grower.best_split(grower.root(), y));
      EXPECT_EQ(parts.low.size() + parts.high.size(), n);
      for (const Node& node : {parts.low, parts.high}) {
        if (node.size() > 2) check(node);
      }
    }
  }
}

// What scikit-learn 1.2.1 and XGBoost 1.7.4 predict (scripts/freeze_baselines.py).
TEST(FrozenBaselines, AgreeWithOtherLibraries) {
  const std::size_t d = 5;
  const auto x = [](std::size_t i, std::size_t c) {
    return static_cast<float>(
        2 * std::sin(12.9898 * static_cast<double>(i) + 78.233 * static_cast<double>(c) + 1));
  };
  const HandPrompt prompt(60, d, x, [&](std::size_t i) {
    return static_cast<float>(double{x(i, 0)} * double{x(i, 1)} + std::abs(double{x(i, 2)}) -
                              .5 * double{x(i, 3)});
  });
  using Frozen = std::vector<std::pair<std::size_t, double>>;
  const std::pair<const char*, Frozen> all[] = {
      {"tree_2",
       {{2, -1.625186},
        {8, -1.471415},
        {13, -0.9768019},
        {20, 1.736259},
        {27, -0.9673303},
        {34, 1.77547},
        {41, -0.8772344},
        {48, 0.3866525},
        {55, -2.481197},
        {59, -0.7417246}}},
      {"tree_4",
       {{2, -1.625186},
        {8, -1.317645},
        {13, -1.099946},
        {20, 1.969942},
        {27, 0.1800579},
        {34, 1.69975},
        {41, -0.8756453},
        {48, 0.6322685},
        {55, -1.938166},
        {59, -1.361849}}},
      {"boosted_trees",
       {{2, -1.480863},
        {5, 1.459132},
        {8, -1.051744},
        {20, 1.858654},
        {27, -0.1377893},
        {34, 1.680299},
        {55, -1.753416},
        {59, -1.082613}}},
      {"lasso_0.1",
       {{2, -1.492586},
        {5, 1.420708},
        {8, 0.7413218},
        {13, -0.6376611},
        {20, 0.7462572},
        {27, -0.8898038},
        {34, 0.7547506},
        {41, -0.9666444},
        {48, 0.7650399},
        {55, -0.9067674},
        {59, -0.06344468}}},
      {"lasso_0.01",
       {{2, -1.608625},
        {5, 1.651046},
        {8, 0.8564746},
        {13, -0.7132459},
        {20, 0.8948519},
        {27, -0.9790769},
        {34, 0.8484634},
        {41, -1.06061},
        {48, 0.8572303},
        {55, -0.9944133},
        {59, -0.05980839}}},
  };
  for (const auto& [name, frozen] : all) {
    const std::vector<float> y = prompt.predict(name);
    EXPECT_EQ(y[0], 0);
    for (const auto& [k, value] : frozen) EXPECT_NEAR(y[k], value, 2e-5) << name << " " << k;
  }
}

TEST(TwoLayerNetwork, TheGradientMatchesCentralDifferences) {
  TwoLayerNetwork<double> network(3, 7);
  Random random(1, Purpose::kTest, 0, 0);
  network.draw(random);
  Eigen::MatrixXd x(3, 5);
  Eigen::VectorXd y(5), gradient, ignored;
  for (double& value : x.reshaped()) value = random.normal();
  for (double& value : y) value = random.normal();
  const double loss = network.loss_gradient(x, y, gradient);
  double by_value = 0;
  for (Eigen::Index i = 0; i < 5; ++i) {
    const double off = network.value(x.col(i)) - y(i);
    by_value += off * off / 5;
  }
  EXPECT_NEAR(loss, by_value, 1e-12);
  ASSERT_EQ(gradient.size(), 7 * 3 + 7 + 7 + 1);
  const double h = 1e-6;
  for (Eigen::Index p = 0; p < gradient.size(); ++p) {
    double& parameter = network.parameters()(p);
    const double before = parameter;
    parameter = before + h;
    const double up = network.loss_gradient(x, y, ignored);
    parameter = before - h;
    const double down = network.loss_gradient(x, y, ignored);
    parameter = before;
    EXPECT_NEAR(gradient(p), (up - down) / (2 * h), 1e-7) << p;
  }
  EXPECT_GT(gradient.cwiseAbs().minCoeff() + gradient.cwiseAbs().maxCoeff(), 1e-3);
}

// It fits what it has seen: a point asked for twice is answered, one not seen is not.
TEST(TwoLayerNetwork, LearnsThePrompt) {
  const HandPrompt drawn = random_prompt(12, 4, 3);
  const HandPrompt again(
      13, 4, [&](std::size_t i, std::size_t c) { return drawn.x(i < 12 ? i : 5, c); },
      [&](std::size_t i) { return drawn.y(i < 12 ? i : 5); });
  const std::vector<float> y = again.predict("two_layer_network");
  EXPECT_EQ(y[0], 0);
  EXPECT_NEAR(y[12], drawn.y(5), .15 * (1 + std::abs(drawn.y(5))));
  EXPECT_EQ(y, again.predict("two_layer_network"));
}

TEST(WeightedNearest, AgreesWithSorting) {
  for (std::uint64_t item = 0; item < 20; ++item) {
    const HandPrompt prompt = random_prompt(14, 3, item);
    const std::vector<float> y = prompt.predict("weighted_nearest_4");
    EXPECT_EQ(y[0], 0);
    for (std::size_t k = 1; k < 14; ++k) {
      std::vector<std::pair<double, double>> all;
      for (std::size_t i = 0; i < k; ++i) {
        double distance = 0;
        for (std::size_t c = 0; c < 3; ++c)
          distance += std::pow(double{prompt.x(i, c)} - double{prompt.x(k, c)}, 2);
        all.emplace_back(std::sqrt(distance), prompt.y(i));
      }
      std::sort(all.begin(), all.end());
      double sum = 0, weights = 0;
      for (std::size_t r = 0; r < std::min<std::size_t>(4, k); ++r) {
        sum += all[r].second / all[r].first;
        weights += 1 / all[r].first;
      }
      EXPECT_NEAR(y[k], sum / weights, 1e-4) << item << " " << k;
    }
  }
}

TEST(WeightedNearest, APointSeenBeforeIsTheMeanOfItsAnswers) {
  const HandPrompt prompt(
      5, 1, [](std::size_t i, std::size_t) { return i == 1 ? 2.0f : 1.0f; },
      [](std::size_t i) {
        return std::vector<float>{4, 100, 8, 6, 0}[i];
      });
  const std::vector<float> y = prompt.predict("weighted_nearest_3");
  EXPECT_EQ(y, (std::vector<float>{0, 4, 4, 6, 6}));
}

}  // namespace headroom::tree_baselines_test
