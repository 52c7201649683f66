// `check --control` through the real binary.
#include <gtest/gtest.h>

#include "cli/run_binary.h"
#include "core/json.h"

namespace headroom::control_test {

class ControlCases : public testing::Test {
 protected:
  BinaryResult check(const std::string& text, std::vector<std::string> more) {
    std::vector<std::string> args{"check", folder_.put("a.json", text)};
    args.insert(args.end(), more.begin(), more.end());
    return run_binary(args);
  }
  json::Value check_json(const std::string& text, std::vector<std::string> more) {
    more.push_back("--json");
    return json::parse(check(text, more).out, "stdout");
  }
  static std::string number(const json::Value& value, const char* key) {
    return std::get<json::Number>(value.find(key)->data).text;
  }
  ScratchFolder folder_{"control cases"};
};

constexpr const char* kTalking =
    R"({"model": {"attention": {"heads": 4, "key_size": 4, "value_size": 4, "mix_scores": "identity"}}})";

TEST_F(ControlCases, PrintsArgumentsThatMakeTheControl) {
  const BinaryResult r = check(kTalking, {"--control", "ffn"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(r.out.ends_with("\n--set model.attention.mix_scores=none --set model.ffn.width=65\n"))
      << r.out;
  const json::Value report = check_json(kTalking, {"--control", "ffn"});
  const json::Value& control = *report.find("control");
  EXPECT_EQ(number(control, "original_parameters"), number(*report.find("budget"), "parameters"));
  const json::Value& match = *control.find("match");
  // Given to the same config, they give the parameters, budget and FLOPs that were promised.
  std::vector<std::string> sets;
  for (const json::Value& item : *match.find("set")->array())
    sets.insert(sets.end(), {"--set", std::get<std::string>(item.data)});
  const json::Value again = check_json(kTalking, sets);
  for (const char* key : {"parameters", "d_h_r", "model_d_h_r", "forward_flops_per_token"})
    EXPECT_EQ(number(*again.find("budget"), key), number(match, key)) << key;
  EXPECT_EQ(again.find("control"), nullptr);
}

TEST_F(ControlCases, ByHeadsHoldsTheSizes) {
  // Sizes derived from the heads, and a budget, become numbers where the heads change.
  for (
      const char* text :
      {R"({"model": {"width": 16, "layers": 2, "ffn": {"width": 8}, "attention": {"heads": 16, "kv_heads": 1}}})",
       R"({"model": {"attention": {"heads": {"budget": "d^3"}, "key_size": 1, "kv_heads": 16}}})"}) {
    const json::Value report = check_json(text, {"--control", "heads"});
    const json::Value& control = *report.find("control");
    const json::Value& below = *control.find("below");
    std::vector<std::string> sets;
    for (const json::Value& item : *below.find("set")->array())
      sets.insert(sets.end(), {"--set", std::get<std::string>(item.data)});
    const json::Value again = check_json(text, sets);
    EXPECT_EQ(number(*again.find("budget"), "parameters"), number(below, "parameters"));
    const auto attention = [](const json::Value& r) {
      return *r.find("resolved_model")->find("attention");
    };
    EXPECT_EQ(number(attention(again), "key_size"), number(attention(report), "key_size"));
    EXPECT_EQ(number(attention(again), "value_size"), number(attention(report), "value_size"));
    EXPECT_NE(number(attention(again), "heads"), number(attention(report), "heads"));
  }
}

TEST_F(ControlCases, NoneNearIsAFailedCheck) {
  const char* text = R"({"model": {"attention": {"heads": 4, "kv_heads": 1}}})";
  const BinaryResult r = check(text, {"--control", "heads"});
  EXPECT_EQ(r.exit_code, 6);
  EXPECT_EQ(r.err,
            "headroom: check --control: no plain config by heads within 1 % of 2,810 parameters; "
            "the nearest: model.attention.heads = 2 (2,682 parameters, -4.56 %) or "
            "model.attention.heads = 3 (2,950 parameters, +4.98 %)\n");
  EXPECT_NE(r.out.find("\nfewer: --set model.attention.heads=2 --set "
                       "model.attention.key_size=4 --set model.attention.value_size=4 --set "
                       "model.attention.kv_heads=null\n"),
            std::string::npos)
      << r.out;
  EXPECT_TRUE(check_json(text, {"--control", "heads"}).find("control")->find("match")->is_null());
}

TEST_F(ControlCases, PlainConfigsAndMistakes) {
  const BinaryResult r = check("{}", {"--control", "heads"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(r.out.ends_with("(nothing to set: this config is plain)\n")) << r.out;
  expect_refused(check("{}", {"--control", "head"}), 2, {"--control", "heads, ffn", "'heads'?"});
  expect_refused(check("{}", {"--control", "ffn", "--set", "model.ffn.width=0"}), 2,
                 {"model.ffn.width = 0"});
  expect_refused(check("{}", {"--control"}), 2, {"--control needs a value"});
}

}  // namespace headroom::control_test
