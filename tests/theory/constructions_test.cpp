#include "theory/construction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "config/read.h"
#include "core/expect_error.h"
#include "tasks/task.h"
#include "theory/formulas.h"
#include "train/evaluate.h"

namespace headroom::constructions_test {

// A construction with its settings, its task and its model on held-out items.
class Built {
 public:
  Built(const std::string& name, const std::vector<std::string>& sets, std::size_t items = 1) {
    for (const ConstructionRow& row : construction_rows()) {
      if (name == row.name) construction = row.make();
    }
    Fields settings;
    construction->declare(settings);
    read_settings(settings, sets);
    task = make_task(construction->task());
    model = std::make_unique<Model<float>>(construction->model(), model_io(*task), items,
                                           ModelUse::kAnswering);
    HandSet parameters(model->table(), model->params().flat());
    construction->set(parameters);
    parameters.finish();
    Arena<float> measure;
    take_batch(measure, task->shape(), items);
    memory = Arena<float>(measure.used());
    batch = take_batch(memory, task->shape(), items);
    sample_batch(*task, 0, Purpose::kEval, 0, 0, task->final_stage(), batch);
  }

  View<const float, 3> output() { return model->forward(batch.input, batch.query); }

  std::unique_ptr<Construction> construction;
  std::unique_ptr<Task> task;
  std::unique_ptr<Model<float>> model;
  Arena<float> memory;
  Batch batch;
};

double product(const float* a, const float* b, std::size_t n) {
  double sum = 0;
  for (std::size_t c = 0; c < n; ++c) sum += double{a[c]} * double{b[c]};
  return sum;
}

// sum_j softmax_j(beta <y, x_j>) x_j in double.
std::vector<double> softmax_retrieval(double beta, const float* y, View<const float, 2> x) {
  const std::size_t n = x.dim(0), d = x.dim(1);
  std::vector<double> scores(n), out(d, 0.0);
  for (std::size_t j = 0; j < n; ++j) scores[j] = beta * product(y, x.data + j * d, d);
  const double top = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& s : scores) sum += s = std::exp(s - top);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t c = 0; c < d; ++c) out[c] += scores[j] / sum * double{x(j, c)};
  }
  return out;
}

double worst_difference(Built& built, double beta) {
  const View<const float, 3> output = built.output();
  const bool self = built.batch.query.empty();
  double worst = 0;
  for (std::size_t b = 0; b < built.batch.items(); ++b) {
    const View<const float, 2> x = built.batch.input[b],
                               asker = self ? x : View<const float, 2>(built.batch.query[b]);
    for (std::size_t p = 0; p < asker.dim(0); ++p) {
      const auto wanted = softmax_retrieval(self ? -beta : beta, &asker(p, std::size_t{0}), x);
      for (std::size_t c = 0; c < wanted.size(); ++c) {
        worst = std::max(worst, std::abs(double{output(b, p, c)} - wanted[c]));
      }
    }
  }
  return worst;
}

const std::vector<std::vector<std::string>> kHeads{
    {}, {"key_size=4"}, {"heads=1"}, {"heads=4"}, {"key_size=1"}, {"heads=2", "key_size=8"}};

TEST(Constructions, ComputeSoftmaxRetrieval) {
  for (const char* asks : {"query=self_farthest", "query=separate"}) {
    const std::vector<std::string> common{"dim=16", "points=9", "beta=30", asks};
    Built full("full_rank", common, 20);
    EXPECT_LT(worst_difference(full, 30), 2e-5) << asks;
    for (std::vector<std::string> sets : kHeads) {
      sets.insert(sets.end(), common.begin(), common.end());
      Built talking("talking_heads", sets, 20);
      EXPECT_LT(worst_difference(talking, 30), 2e-5) << testing::PrintToString(sets);
    }
  }
}

TEST(Constructions, TalkingHeadsHaveTheHeadsTheySay) {
  const auto attention = [](const std::vector<std::string>& sets) {
    return Built("talking_heads", sets).construction->model().attention;
  };
  EXPECT_EQ(attention({}).heads, 8u);
  EXPECT_EQ(attention({}).key_size, 8u);
  EXPECT_EQ(attention({"dim=24", "heads=3"}).key_size, 8u);
  EXPECT_EQ(attention({"dim=24", "key_size=2"}).heads, 12u);
  EXPECT_EQ(attention({"dim=24", "key_size=2"}).value_size, 2u);
}

// Science A.7: the loss of self-query farthest by inverse temperature. The table is a Monte Carlo
// estimate itself, good to about 3 %.
TEST(Constructions, HaveTheLossesOfTheTable) {
  struct Cell {
    const char *dim, *points, *beta;
    double loss;
    std::size_t items;
  };
  for (const char* name : {"full_rank", "talking_heads"}) {
    for (const Cell& cell :
         {Cell{"64", "16", "400", .0131, 5120}, Cell{"64", "4", "100", .0263, 4000},
          Cell{"16", "16", "50", .0524, 4000}, Cell{"64", "64", "800", .0092, 400}}) {
      Built built(name, {std::string("dim=") + cell.dim, std::string("points=") + cell.points,
                         std::string("beta=") + cell.beta});
      Model<float> model(built.construction->model(), model_io(*built.task), 64,
                         ModelUse::kAnswering);
      std::copy_n(built.model->params().data, model.params().size(), model.params().data);
      Evaluator evaluator(*built.task, 0, cell.items, 64);
      const Mean loss = evaluator.run(model)->loss;
      EXPECT_NEAR(loss.mean, cell.loss, 3 * loss.sem + .03 * cell.loss)
          << name << " " << cell.dim << " " << cell.points << " " << cell.beta;
      EXPECT_LT(loss.sem, .04 * cell.loss);
      EXPECT_FALSE(built.construction->expected_loss());
    }
  }
}

TEST(Constructions, OfTwoOrthonormalPointsTheLossIsThatOfTheFormula) {
  for (const char* name : {"full_rank", "talking_heads", "full_rank_encoder"}) {
    std::vector<std::string> sets{"query=separate", "points_from=orthonormal", "points=2",
                                  "beta=100"};
    if (name == std::string("full_rank_encoder")) sets.emplace_back("ffn_width=32");
    Built built(name, sets);
    Model<float> model(built.construction->model(), model_io(*built.task), 64,
                       ModelUse::kAnswering);
    std::copy_n(built.model->params().data, model.params().size(), model.params().data);
    Evaluator evaluator(*built.task, 0, 5000, 64);
    const Mean loss = evaluator.run(model)->loss;
    ASSERT_TRUE(built.construction->expected_loss());
    EXPECT_NEAR(loss.mean, *built.construction->expected_loss(), 3 * loss.sem);
    EXPECT_LT(loss.sem, .0003);
  }
  // The formula is about these points and no others.
  EXPECT_FALSE(Built("full_rank", {"query=separate", "points=2"}).construction->expected_loss());
  EXPECT_FALSE(Built("full_rank", {"query=separate", "points_from=orthonormal", "points=3"})
                   .construction->expected_loss());
}

// The softmax retrieval of full_rank, made 1 long, for any number of layers.
TEST(Constructions, TheHeadInsideTheEncoderIsTheSameHead) {
  for (const char* asks : {"query=self_farthest", "query=separate"})
    for (const char* layers : {"layers=1", "layers=3"})
      for (const char* ffn : {"ffn_width=0", "ffn_width=32"}) {
        Built built("full_rank_encoder", {"dim=16", "points=9", "beta=30", asks, layers, ffn}, 20);
        const View<const float, 3> output = built.output();
        const bool self = built.batch.query.empty();
        for (std::size_t b = 0; b < 20; ++b) {
          const View<const float, 2> x = built.batch.input[b],
                                     asker = self ? x : View<const float, 2>(built.batch.query[b]);
          for (std::size_t p = 0; p < asker.dim(0); ++p) {
            const auto found = softmax_retrieval(self ? -30 : 30, &asker(p, std::size_t{0}), x);
            double length = 0;
            for (const double v : found) length += v * v;
            for (std::size_t c = 0; c < 16; ++c)
              ASSERT_NEAR(output(b, p, c), found[c] / std::sqrt(length), 1e-4) << asks << layers;
          }
        }
      }
  // As the authors set it, it is exact but for near ties.
  Built exact("full_rank_encoder", {"ffn_width=16"});
  Evaluator evaluator(*exact.task, 0, 200, 1);
  EXPECT_LT(evaluator.run(*exact.model)->loss.mean, 1e-3);
  EXPECT_FALSE(exact.construction->expected_loss());
}

TEST(Formulas, AgreeWithWhatIsKnown) {
  EXPECT_NEAR(softmax_pair_loss(64, 100), .01723, 5e-6);  // science A.7
  EXPECT_NEAR(softmax_pair_loss(64, 400), .01723 / 4, 2e-6);
  // Uniform on a circle, on (-1, 1) in three dimensions, and Gaussian in many.
  EXPECT_NEAR(sphere_density_at_zero(2), 1 / std::numbers::pi, 1e-12);
  EXPECT_NEAR(sphere_density_at_zero(3), 0.5, 1e-12);
  EXPECT_NEAR(sphere_density_at_zero(1'000'000), std::sqrt(1e6 / (2 * std::numbers::pi)), 1e-3);
}

TEST(Constructions, RefuseSettingsThatDoNotGoTogether) {
  const auto refused = [](const char* name, const std::vector<std::string>& sets,
                          std::initializer_list<std::string> parts) {
    expect_error([&] { Built(name, sets); }, parts);
  };
  refused("talking_heads", {"key_size=5"}, {"key_size = 5", "dim = 64"});
  refused("talking_heads", {"heads=5"}, {"heads = 5", "dim = 64"});
  refused("talking_heads", {"heads=4", "key_size=4"}, {"heads = 4", "key_size = 4", "dim = 64"});
  refused("full_rank", {"queries=3"}, {"task.queries = 3"});
  refused("full_rank", {"points_from=orthonormal"}, {"orthonormal", "self_farthest"});
  refused("full_rank", {"query=self_nearest"}, {"self_nearest", "self_farthest, separate"});
  refused("full_rank", {"beta=0"}, {"beta: 0 is out of range"});
  refused("full_rank", {"beta=inf"}, {"beta"});
}

TEST(Constructions, EachHasANameOfItsOwnAndSaysWhatItIs) {
  std::set<std::string> names;
  for (const ConstructionRow& row : construction_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    for (const char* text : {row.sentence, row.weights, row.formula}) {
      EXPECT_GT(std::string(text).size(), 30u) << row.name;
    }
    Fields settings;
    const std::unique_ptr<Construction> construction = row.make();
    construction->declare(settings);
    read_settings(settings, std::vector<std::string>{"seed=7"});
    EXPECT_EQ(construction->seed(), 7u);
    EXPECT_NO_THROW(Built(row.name, {})) << "the defaults go together";
  }
}

}  // namespace headroom::constructions_test
