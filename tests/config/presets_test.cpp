// The configs that come with the program: each is accepted, and the models have their published
// sizes.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "config/read.h"
#include "config/sweep.h"
#include "config/write.h"
#include "core/file.h"
#include "core/json.h"
#include "model/budget.h"
#include "train/evaluate.h"

namespace headroom::presets_test {

namespace fs = std::filesystem;

std::uint64_t parameters_of(const std::string& name) {
  const RunConfig config = read_run_config((fs::path(HEADROOM_CONFIGS) / name).string());
  return model_budget(config.model, model_io(*make_task(config.task))).parameters;
}

TEST(Presets, EachIsAcceptedAndFedBack) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(HEADROOM_CONFIGS)) {
    if (entry.path().extension() != ".json") continue;
    if (json::parse_file(entry.path().string()).find("axes") != nullptr) continue;  // a sweep
    const RunConfig config = read_run_config(entry.path().string());
    const std::string text = config_text(config);
    EXPECT_EQ(config_text(read_run_config_text(text)), text) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 18u);
}

TEST(Presets, TheQuickstartsSweep) {
  const std::string path = (fs::path(HEADROOM_CONFIGS) / "quickstart/sweep.json").string();
  EXPECT_EQ(read_sweep(path).points.size(), 10u);
}

// Layers x copies x ranks x seeds, and so on (science A.4, A.5, D).
const std::map<std::string, std::size_t> kRunsOfPapers{
    {"fig2-full", 3 * 3 * 7 * 5},
    {"points-full", 4 * 5 * 5},
    {"dims-full", 4 * 5 * 5},
    {"positions-full", 2 * 2 * 7 * 5},
    {"positions-concatenated-full", 2 * 2 * 8 * 5},
    {"identity-full", 3 * 5},
    {"in-context-rank-full", 5 * 5},
    {"kuang-full", 3 * 6 * 3},
    {"garg-full", 3 * 3},
    {"von-oswald-full", 5 * 5},
};

// Every point's config goes through the reader that `train` uses; what is reduced says so.
TEST(Presets, PapersComeInFullAndReduced) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(HEADROOM_CONFIGS) / "paper")) {
    if (entry.path().extension() != ".json") continue;
    const std::string name = entry.path().stem().string();
    const bool reduced = name.ends_with("-reduced");
    ASSERT_TRUE(reduced || name.ends_with("-full")) << name;
    const std::string other =
        name.substr(0, name.rfind('-')) + (reduced ? "-full.json" : "-reduced.json");
    EXPECT_TRUE(fs::exists(entry.path().parent_path() / other)) << other;
    EXPECT_EQ(read_file(entry.path(), 1 << 20).starts_with("// REDUCED"), reduced) << name;
    const Sweep sweep = read_sweep(entry.path().string());
    EXPECT_EQ(sweep.out, fs::path("runs/paper") / name);
    if (!reduced) {
      ASSERT_TRUE(kRunsOfPapers.contains(name)) << name;
      EXPECT_EQ(sweep.points.size(), kRunsOfPapers.at(name)) << name;
      ++count;
    }
  }
  EXPECT_EQ(count, kRunsOfPapers.size());
}

// The published encoder: what A.3 and A.4 of its paper's code say.
TEST(Presets, Figure2IsAsPublished) {
  const std::string base = (fs::path(HEADROOM_CONFIGS) / "paper/base/amsel.json").string();
  const RunConfig config = read_run_config(base);
  EXPECT_EQ(config.train.steps, 100000u);
  EXPECT_EQ(config.train.batch, 256u);
  EXPECT_EQ(config.train.optimizer.lr, 0.01);
  EXPECT_EQ(config.model.ffn.width, 2048u);
  EXPECT_EQ(config.seeds.init, 613u);
  // A row of train.csv is one of their epochs, whose lowest they report.
  EXPECT_EQ(config.run.log_every, 100u);
}

TEST(Presets, HaveTheirPublishedParameters) {
  // Garg et al.: .2M, 1.2M and 9.5M; the position table holds 202.
  EXPECT_EQ(parameters_of("models/gpt2-garg-standard.json"), 9534977u);
  EXPECT_NEAR(static_cast<double>(parameters_of("models/gpt2-garg-small.json")), 1.2e6, 5e4);
  EXPECT_NEAR(static_cast<double>(parameters_of("models/gpt2-garg-tiny.json")), 2e5, 4e4);
  // Mixing adds 2 h^2 a layer.
  EXPECT_EQ(parameters_of("models/gpt2-garg-talking.json"), 9534977u + 12 * 2 * 8 * 8);
  // Blocks alone: 4 d^2 + 2 d F and their biases, two LayerNorms; BERT's and ALBERT's encoders have
  // these.
  EXPECT_EQ(parameters_of("models/bert-base.json"), 85054464u);
  EXPECT_EQ(parameters_of("models/bert-large.json"), 302309376u);
  EXPECT_EQ(parameters_of("models/albert-base.json"), 85054464u / 12);
  // Published: 222,903,552, of which the vocabulary has 32,128 x 768.
  EXPECT_EQ(parameters_of("models/t5-base.json"), 222903552u - 32128u * 768);
  // 4 d h d_p + 2 d F and the biases: as many as BERT-large within .1 %.
  EXPECT_EQ(parameters_of("models/bert-key128.json"),
            24u * (4 * 512 * 4096 + 3 * 4096 + 512 + 2 * 512 * 4096 + 4096 + 512 + 4 * 512));
  EXPECT_NEAR(static_cast<double>(parameters_of("models/bert-key128.json")) / 302309376.0, 1, 1e-3);
  // H (2 r d + d^2), a full map a head.
  EXPECT_EQ(parameters_of("models/amsel-attention-layer.json"), 64u * (2 * 64 + 64 * 64));
  // 4 d^2 + 4 d of attention, 2 d F + F + d of the FFN, two scalars.
  EXPECT_EQ(parameters_of("models/amsel-encoder.json"),
            4u * 64 * 65 + 2 * 64 * 2048 + 2048 + 64 + 2);
}

}  // namespace headroom::presets_test
