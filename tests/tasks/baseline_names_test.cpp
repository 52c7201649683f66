// From names to predictors.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "baselines/baseline.h"
#include "core/expect_error.h"
#include "tasks/item.h"

namespace headroom::baseline_names_test {

constexpr TaskType kRetrieval = TaskType::kNearestNeighbor;
constexpr TaskType kRegression = TaskType::kLinearRegression;

std::vector<std::string> chosen(TaskType task, const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const BaselineChoice& choice : choose_baselines(task, names)) out.push_back(choice.name());
  return out;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

TEST(BaselineNames, AnyNumberIsAParameter) {
  EXPECT_EQ(chosen(kRegression, {"nearest_7", "zero", "nearest_7.0", "nearest_12"}),
            (std::vector<std::string>{"nearest_7", "zero", "nearest_12"}));
}

TEST(BaselineNames, TheReferenceIsAlwaysThere) {
  EXPECT_EQ(chosen(kRetrieval, {"exact"}), (std::vector<std::string>{"exact", "best_linear_map"}));
  EXPECT_EQ(chosen(kRegression, {}), std::vector<std::string>{"zero"});
  for (const auto& task : kTaskTypes) {
    std::size_t references = 0;
    for (const BaselineRow& row : baseline_rows())
      references += row.reference && row.serves(task.value);
    EXPECT_LE(references, 1u) << task.name;
  }
}

TEST(BaselineNames, SetsMixWithNamesAndSlowOnesNeedAsking) {
  for (const auto& task : kTaskTypes) {
    const auto quick = chosen(task.value, {"default"}), all = chosen(task.value, {"all"});
    for (const std::string& name : quick) EXPECT_TRUE(has(all, name)) << task.name << " " << name;
    for (const BaselineChoice& choice :
         choose_baselines(task.value, std::vector{std::string("all")}))
      EXPECT_EQ(has(quick, choice.name()), choice.row->cost == Cost::kQuick) << choice.name();
  }
  const auto mixed = chosen(kRegression, {"nearest_5", "default"});
  EXPECT_EQ(mixed.front(), "nearest_5");
  EXPECT_TRUE(has(mixed, "nearest_3"));
}

TEST(BaselineNames, UnknownOnesNameTheNearest) {
  const auto refuse = [](TaskType task, const std::string& name, const std::string& says) {
    expect_error([&] { choose_baselines(task, std::vector{name}); }, {says});
  };
  refuse(kRegression, "least_square", "least_squares");
  refuse(kRegression, "exact", "unknown baseline");
  refuse(kRegression, "neerest_3", "nearest_3");
  for (const char* bad : {"nearest_", "nearest_0", "nearest_2.5", "nearest_-1", "nearest_1e9", ""})
    refuse(kRegression, bad, "nearest_K");
  refuse(kRetrieval, "nearest_3", "best_linear_map");
}

TEST(BaselineNames, AStopEndsTheFits) {
  const std::unique_ptr<Task> task = make_task(retrieval(8, 8));
  const BaselineChoice choice = *reference_baseline(kRetrieval);
  int asked = 0;
  const auto stop = [&] { return ++asked > 3; };
  EXPECT_EQ(choice.row->make({.task = *task, .stop = stop}), nullptr);
  EXPECT_EQ(asked, 4);
}

}  // namespace headroom::baseline_names_test
