#include "train/evaluate_shifts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/expect_error.h"
#include "model/params.h"
#include "train/evaluate.h"
#include "train/small_job.h"

namespace headroom::evaluate_shifts_test {

// Where the query is replaced, each position's error is that of the last prediction of its own
// prompts, and the loss their mean; where it is not, that of an evaluation of the shifted task.
TEST(EvaluateShifts, ScoresAreThoseOfEachTaskAlone) {
  const TrainJob job = small_regression("none");
  const std::unique_ptr<Task> task = make_task(job.task);
  const ModelIo io = model_io(*task);
  const ModelConfig config = resolve(job.model, io);
  const std::vector<std::string> names{"seen_query", "scale_x=3"};
  const std::vector<PlannedShift> plan =
      plan_shifts(job.task, config, choose_shifts(job.task, names), 4);
  Model<float> model(config, widened(io, plan), 16, false);
  init_params(model.table(), 3, model.params());
  const auto scores = evaluate_shifts(plan, model, {}, 4, 50, 16);
  ASSERT_TRUE(scores && scores->size() == 2);
  for (std::size_t s = 0; s < 2; ++s) {
    const Score& score = scores->at(s).model;
    const auto& prompts = plan[s].task.prompts;
    EXPECT_EQ(scores->at(s).examples, plan[s].task.examples);
    ASSERT_EQ(score.positions.size(), plan[s].task.examples.size());
    double loss = 0;
    std::size_t p = 0;
    for (const auto& prompt : prompts) {
      Evaluator alone(*prompt, 4, 50, 16);
      const Score one = *alone.run(model, {}, true);
      loss += one.loss.mean / static_cast<double>(prompts.size());
      for (const Mean& error : one.positions) {
        EXPECT_EQ(score.positions[p].mean, error.mean);
        EXPECT_EQ(score.positions[p].sem, error.sem);
        EXPECT_EQ(score.positions[p].interval->low, error.interval->low);
        ++p;
      }
    }
    EXPECT_NEAR(score.loss.mean, loss, 1e-9 * loss);
    EXPECT_GT(score.loss.sem, 0);
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
