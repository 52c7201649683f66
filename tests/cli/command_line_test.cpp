#include "cli/command_line.h"

#include <gtest/gtest.h>

#include "core/expect_error.h"

namespace headroom::command_line_test {

struct Given {
  std::string config, extra = "none", out = "nowhere", dtype = "float32";
  std::vector<std::string> sets;
  std::optional<std::uint64_t> threads;
  std::optional<std::string> resume, clip;
  std::uint64_t steps = 1;
  bool force = false;

  bool parse(const std::vector<std::string>& args) {
    CommandLine line("train", "Trains.", "headroom train a.json");
    line.argument("CONFIG", config, "The config.");
    line.optional_argument("EXTRA", extra, "More.");
    line.set_items(sets);
    line.text("--out", out, "DIR", "Where to.");
    line.text("--clip", clip, "NORM", "A number perhaps.");
    line.choice("--dtype", dtype, {"float32", "float64"}, "Arithmetic.");
    line.whole("--threads", threads, {1, 1024}, "N", "Threads.");
    line.whole("--steps", steps, {1, 1000}, "N", "Steps.");
    line.flag_or_text("--resume", resume, "last", "auto", "Go on.");
    line.flag("--force", force, "Do it.");
    return line.parse(args);
  }
};

using Args = std::vector<std::string>;

Given parsed(const Args& args) {
  Given given;
  EXPECT_TRUE(given.parse(args));
  return given;
}
void refused(const Args& args, std::initializer_list<std::string> parts) {
  SCOPED_TRACE(testing::PrintToString(args));
  Given given;
  const std::string message = error_of([&] { given.parse(args); });
  EXPECT_TRUE(message.starts_with("train: ")) << message;
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << part << "\nin: " << message;
}

TEST(CommandLine, DefaultsStayWhereNothingIsGiven) {
  const Given g = parsed({"a.json"});
  EXPECT_EQ(g.config, "a.json");
  EXPECT_EQ(g.extra, "none");
  EXPECT_EQ(g.out, "nowhere");
  EXPECT_EQ(g.steps, 1u);
  EXPECT_FALSE(g.threads || g.resume || g.force);
  EXPECT_TRUE(g.sets.empty());
}

TEST(CommandLine, SetTakesOneItemAndRepeats) {
  EXPECT_EQ(parsed({"--set", "a=1", "c.json"}).config, "c.json");
  EXPECT_EQ(parsed({"--set", "a=1", "--set", "b=2", "c.json"}).sets, (Args{"a=1", "b=2"}));
  EXPECT_EQ(parsed({"--set=a=1", "c.json", "--set", "b=2"}).sets, (Args{"a=1", "b=2"}));
  EXPECT_EQ(parsed({"c.json", "--set", "a=b=c"}).sets, (Args{"a=b=c"}));
  EXPECT_EQ(parsed({"c.json", "--set=a=b=c"}).sets, (Args{"a=b=c"}));
}

TEST(CommandLine, ValuesArriveWhole) {
  for (const std::string value :
       {"x=-0.5", "-0.5", "-x", "a=[0.9,0.95]", "[1,2]", "{\"a\": [1, 2]}", "a b",   "50%@#",
        "\"q\"",  "'q'",  "--", "--x",          "a,b",   "größe",           "$HOME", "\\n",
        "a=",     "=",    "%",  "[[x]]"}) {
    if (value != "--") {
      EXPECT_EQ(parsed({"c.json", "--set", value}).sets, Args{value});
    }
    EXPECT_EQ(parsed({"--set=" + value, "c.json"}).sets, Args{value});
    EXPECT_EQ(parsed({"c.json", "--set", "k=" + value}).sets, Args{"k=" + value});
  }
  EXPECT_EQ(parsed({"c.json", "--clip", "-1"}).clip, "-1");
  EXPECT_EQ(parsed({"c.json", "--clip=-1"}).clip, "-1");
  EXPECT_EQ(parsed({"c.json", "--clip", "-.5"}).clip, "-.5");
  EXPECT_EQ(parsed({"--out", "[run]", "[c].json"}).out, "[run]");
  EXPECT_EQ(parsed({"--out", "[run]", "[c]"}).config, "[c]");
}

TEST(CommandLine, TheLastOfTwoWins) {
  EXPECT_EQ(parsed({"c.json", "--out", "a", "--out", "b"}).out, "b");
  EXPECT_EQ(parsed({"c.json", "--threads=3", "--threads", "4"}).threads, 4u);
  EXPECT_TRUE(parsed({"c.json", "--force", "--force"}).force);
}

TEST(CommandLine, OptionalValuesComeAfterAnEqualsSignOnly) {
  EXPECT_EQ(parsed({"--resume", "c.json"}).resume, "last");
  EXPECT_EQ(parsed({"--resume", "c.json"}).config, "c.json");
  EXPECT_EQ(parsed({"--resume=auto", "c.json"}).resume, "auto");
  EXPECT_EQ(parsed({"c.json", "--resume"}).resume, "last");
}

TEST(CommandLine, EverythingAfterTwoDashesIsAnArgument) {
  const Given g = parsed({"--force", "--", "-c.json", "--out"});
  EXPECT_EQ(g.config, "-c.json");
  EXPECT_EQ(g.extra, "--out");
}

TEST(CommandLine, UnknownFlagsAreNamedFirst) {
  refused({"--forse", "c.json"}, {"unknown flag \"--forse\"", "'--force'?"});
  refused({"--treads", "4", "c.json"}, {"unknown flag \"--treads\"", "'--threads'?"});
  refused({"--thread=4"}, {"unknown flag \"--thread\"", "'--threads'?"});
  // Though CONFIG is missing, a value is bad, and there are too many arguments.
  refused({"--zap", "9"}, {"unknown flag \"--zap\""});
  refused({"--threads", "none", "a", "b", "c", "--zap"}, {"unknown flag \"--zap\""});
  refused({"c.json", "-x"}, {"unknown flag \"-x\""});
  refused({"c.json", "-1"}, {"unknown flag \"-1\""});
  refused({"c.json", "--lr", "0.1"}, {"unknown flag \"--lr\"", "--set train.optimizer.lr=VALUE"});
  refused({"c.json", "--batch-size=3"}, {"--set train.batch=VALUE"});
}

TEST(CommandLine, OtherMistakesAreOneLine) {
  refused({}, {"CONFIG is missing"});
  refused({"a", "b", "c"}, {"unexpected argument \"c\""});
  refused({"c.json", "--set"}, {"--set needs a value: --set KEY=VALUE"});
  refused({"c.json", "--set="}, {"--set needs a value"});
  refused({"c.json", "--out", ""}, {"--out needs a value"});
  refused({"--out", "--force", "c.json"}, {"--out needs a value: --out DIR"});
  refused({"c.json", "--force=yes"}, {"--force takes no value"});
  refused({"c.json", "--threads", "0"},
          {"--threads: expected a whole number from 1 to 1024, found \"0\""});
  refused({"c.json", "--threads", "-1"}, {"--threads: ", "\"-1\""});
  refused({"c.json", "--threads", "1.5"}, {"--threads: ", "\"1.5\""});
  refused({"c.json", "--threads", "two"}, {"--threads: ", "\"two\""});
  refused({"c.json", "--threads", "18446744073709551617"}, {"--threads: "});
  refused({"c.json", "--dtype", "float46"}, {"--dtype: ", "float32, float64", "'float64'?"});
}

TEST(CommandLine, HelpSaysAllOfIt) {
  Given given;
  CommandLine line("train", "Trains the model.", "headroom train a.json\nheadroom train b.json");
  line.argument("CONFIG", given.config, "The config.");
  line.optional_argument("EXTRA", given.extra, "More.");
  line.set_items(given.sets);
  line.flag_or_text("--resume", given.resume, "last", "auto", "Go on.");
  const std::string help = line.help();
  for (const char* part :
       {"Usage: headroom train CONFIG [EXTRA] [--set KEY=VALUE]... [--resume[=auto]]\n\nTrains the "
        "model.\n",
        "Arguments:\n  CONFIG", "  EXTRA", "Options:\n  --set KEY=VALUE  Set a field",
        "--resume[=auto]  Go on.", "-h, --help",
        "Examples:\n  headroom train a.json\n  headroom train b.json\n"}) {
    EXPECT_NE(help.find(part), std::string::npos) << part << "\nin:\n" << help;
  }
  std::size_t width = 0;
  for (char c : help) {
    width = c == '\n' ? 0 : width + 1;
    EXPECT_LE(width, 100u);
  }
}

}  // namespace headroom::command_line_test
