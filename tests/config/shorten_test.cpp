#include "config/shorten.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "config/read.h"
#include "config/write.h"
#include "core/json.h"
#include "train/schedule.h"

namespace headroom::shorten_test {

namespace fs = std::filesystem;

constexpr double kFlops = 1e10;

TEST(Shorten, EveryPresetStaysValidAndKeepsItsModel) {
  for (const auto& entry : fs::recursive_directory_iterator(HEADROOM_CONFIGS)) {
    if (entry.path().extension() != ".json") continue;
    if (json::parse_file(entry.path().string()).find("axes") != nullptr) continue;  // a sweep
    const RunConfig config = read_run_config(entry.path().string());
    const RunConfig copy = shortened(config, 6, kFlops);
    EXPECT_NO_THROW(validate(copy)) << entry.path();
    EXPECT_EQ(json::write(*config_value(copy).find("model")),
              json::write(*config_value(config).find("model")));
    EXPECT_LE(copy.train.steps, 6u);
    EXPECT_LE(copy.train.batch, config.train.batch);
    EXPECT_EQ(copy.train.accumulate, config.train.accumulate);
    EXPECT_EQ(config_text(read_run_config_text(config_text(copy))), config_text(copy));
  }
}

TEST(Shorten, KeepsWhatTheScheduleHas) {
  const auto schedule = [](const std::string& item, const std::string& more) {
    const std::vector<std::string> sets{"train.steps=1000", item, more};
    const RunConfig copy = shortened(read_run_config_text("{}", sets), 6, kFlops);
    validate(copy);
    const Schedule s(copy.train.schedule, 1, copy.train.steps);
    return std::pair(s.warmup(), s.horizon());
  };
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(schedule("train.schedule.warmup=0.1", "seed=0"), Pair(2, 6));
  EXPECT_EQ(schedule("train.schedule.warmup=300", "seed=0"), Pair(2, 6));
  EXPECT_EQ(schedule("train.schedule.warmup=0", "train.schedule.steps=500"), Pair(0, 4));
  EXPECT_EQ(schedule("train.schedule.warmup=20", "train.schedule.steps=5000"), Pair(2, 6));
  EXPECT_EQ(schedule("train.schedule.warmup=0.5", "train.steps=2"), Pair(1, 2));
  EXPECT_EQ(schedule("train.schedule.warmup=0", "train.steps=0").second, 0u);
}

TEST(Shorten, FitsTheBatchToTheFlops) {
  const std::vector<std::string> sets{"train.batch=64", "train.accumulate=4"};
  const RunConfig config = read_run_config_text("{}", sets);
  EXPECT_EQ(shortened(config, 6, 1e30).train.batch, 64u);
  EXPECT_EQ(shortened(config, 6, 1).train.batch, 4u);
}

}  // namespace headroom::shorten_test
