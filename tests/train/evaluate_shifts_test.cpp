#include "train/evaluate_shifts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/expect_error.h"
#include "model/params.h"
#include "train/evaluate.h"
#include "train/small_job.h"

namespace headroom::evaluate_shifts_test {

// Where the query is replaced, each position's error is that of the last prediction of its own
// prompts, and the loss their mean; where it is not, that of an evaluation of the shifted task. A
// model that is inspected reads every prompt from its beginning, one that is not goes on from
// another's tokens.
TEST(EvaluateShifts, ScoresAreThoseOfEachTaskAlone) {
  TrainJob job = small_regression("none");
  job.task.points = 6;
  job.task.curriculum.reset();
  job.model.positions.length = 20;
  const std::unique_ptr<Task> task = make_task(job.task);
  const ModelIo io = model_io(*task);
  const ModelConfig config = resolve(job.model, io);
  const std::vector<std::string> names{"all"};
  const std::vector<PlannedShift> plan =
      plan_shifts(job.task, config, choose_shifts(job.task, names), 4);
  for (const ModelUse use : {ModelUse::kAnswering, ModelUse::kInspection}) {
    Model<float> model(config, widened(io, plan), 16, use);
    init_params(model.table(), 3, model.params());
    const auto scores = evaluate_model(*task, plan, model, 4, 50, 16);
    ASSERT_TRUE(scores && scores->shifted.size() == plan.size());
    Evaluator plain(*task, 4, 50, 16);
    EXPECT_EQ(scores->plain.loss.mean, plain.run(model)->loss.mean);
    const double tolerance = use == ModelUse::kInspection ? 0 : 1e-4;
    for (std::size_t s = 0; s < plan.size(); ++s) {
      const Score& score = scores->shifted[s];
      const auto& prompts = plan[s].task.prompts;
      ASSERT_EQ(score.positions.size(), plan[s].task.examples.size());
      double loss = 0;
      std::size_t p = 0;
      for (const auto& prompt : prompts) {
        Evaluator alone(*prompt, 4, 50, 16);
        const Score one = *alone.run(model, {}, true);
        loss += one.loss.mean / static_cast<double>(prompts.size());
        for (const Mean& error : one.positions) {
          const Mean& here = score.positions[p++];
          EXPECT_NEAR(here.mean, error.mean, tolerance * error.mean) << plan[s].choice.name();
          EXPECT_NEAR(here.sem, error.sem, tolerance * error.sem);
          EXPECT_NEAR(here.interval->low, error.interval->low, tolerance * error.mean);
        }
      }
      EXPECT_NEAR(score.loss.mean, loss, (1e-9 + tolerance) * loss);
      EXPECT_GT(score.loss.sem, 0);
    }
  }
}

TEST(EvaluateShifts, LongerPromptsNeedPositionsForThem) {
  TrainJob job = small_regression("none");
  const std::unique_ptr<Task> task = make_task(job.task);
  const std::vector<std::string> all{"all"}, named{"more_points"};
  // Whether the plan has it.
  const auto longer = [&](const std::vector<std::string>& names) {
    const std::vector<PlannedShift> plan = plan_shifts(
        job.task, resolve(job.model, model_io(*task)), choose_shifts(job.task, names), 0);
    return plan.back().choice.row->longer && plan.back().choice.left_out.empty();
  };
  ASSERT_EQ(job.model.positions.type, PositionsType::kLearned);
  EXPECT_FALSE(longer(all));
  expect_error([&] { longer(named); }, {"shift more_points=1.5", "model.positions.length"});
  job.model.positions.length = 200;
  EXPECT_TRUE(longer(named));
  job.model.positions.type = PositionsType::kAlibi;
  job.model.positions.length.reset();
  EXPECT_TRUE(longer(all));
}

}  // namespace headroom::evaluate_shifts_test
