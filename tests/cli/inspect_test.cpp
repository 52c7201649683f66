// `inspect` through the real binary.
#include <gtest/gtest.h>

#include <cstdlib>

#include "cli/patterns.h"
#include "cli/run_binary.h"
#include "train/safetensors.h"

namespace headroom::inspect_test {

class InspectCommand : public testing::Test {
 protected:
  BinaryResult run(std::vector<std::string> args) {
    return run_binary(args, {.folder = folder_.path()});
  }
  ScratchFolder folder_{"inspect ü"};
};

TEST_F(InspectCommand, SeesAHandSetModel) {
  ASSERT_EQ(run({"construct", "talking_heads", "--set", "dim=8", "--set", "points=5", "--set",
                 "heads=4", "--out", "run", "--quiet"})
                .exit_code,
            0);
  const BinaryResult text = run({"inspect", "run", "--dump", "maps.safetensors"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  for (const char* part :
       {"layers.0.attention: 4 heads, key_size 2", "rank up to", "mixed W_Q^T W_K",
        "mix_scores: singular values 4.000 0.000", "held-out items; loss without a head"})
    EXPECT_NE(text.out.find(part), std::string::npos) << part << "\n" << text.out;
  const BinaryResult json =
      run({"inspect", "run", "--json", "--items", "30", "--checkpoint", "best"});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  EXPECT_EQ(json_number(json.out, "items"), 30);
  EXPECT_EQ(json_number(json.out, "score_rank"), 8);
  EXPECT_EQ(json_number(json.out, "numerical_rank"), 2) << "of a head before mixing";
  EXPECT_NEAR(json_number(json.out.substr(json.out.find("\"mixed_qk\"")), "effective_rank"), 8,
              1e-6);
  EXPECT_NEAR(json_number(json.out.substr(json.out.find("\"mixed_qk\"")), "angle_deg"), 180, 1e-3);
  EXPECT_GT(json_number(json.out, "hit_rate"), .99);
  const safetensors::Archive dump(folder_.path() / "maps.safetensors");
  const safetensors::Tensor* maps = dump.find("layers.0.attention.weights");
  ASSERT_NE(maps, nullptr);
  EXPECT_EQ(maps->shape, (std::vector<std::size_t>{16, 4, 5, 5}));
  EXPECT_NE(dump.find("batch.target"), nullptr);
}

TEST_F(InspectCommand, MistakesAreOneLine) {
  expect_refused(run({"inspect", "no-such-run"}), 3, {"no-such-run", "run directory"});
  expect_refused(run({"inspect", "x", "--items", "1"}), 2, {"--items"});
  expect_refused(run({"inspect"}), 2, {"RUN_DIR"});
}

}  // namespace headroom::inspect_test
