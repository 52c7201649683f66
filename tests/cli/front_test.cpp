// The front of the real binary: help, version, commands, describe, closed and full outputs.
#include <gtest/gtest.h>

#include "cli/commands.h"
#include "cli/run_binary.h"

namespace headroom::front_test {

void expect_parts(const std::string& text, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin:\n" << text;
}

TEST(Front, HelpListsEveryCommand) {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"--help"}, {"-h"}, {"help"}, {}}) {
    const BinaryResult r = run_binary(args);
    EXPECT_EQ(r.exit_code, args.empty() ? 2 : 0);
    EXPECT_EQ(r.err, "");
    expect_parts(r.out, {"Usage: headroom COMMAND", "--version"});
    for (const Command& command : commands()) {
      expect_parts(r.out, {"\n  " + std::string(command.name) + " ", command.summary});
    }
  }
}

TEST(Front, EveryCommandHasHelp) {
  for (const Command& command : commands()) {
    const std::string name = command.name;
    const BinaryResult r = run_binary({name, "--help"});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    expect_parts(r.out, {"Usage: headroom " + name, "Options:\n", "--help", "Example",
                         "\n  headroom " + name});
    EXPECT_EQ(run_binary({"help", name}).out, r.out);
    EXPECT_EQ(run_binary({name, "-h"}).out, r.out);
  }
}

TEST(Front, VersionSaysWhatItIs) {
  const BinaryResult r = run_binary({"--version"});
  EXPECT_EQ(r.exit_code, 0);
  expect_parts(r.out, {"headroom ", "\ncommit ", "\ncompiler ", "\noneDNN ", "\ninstruction set "});
}

TEST(Front, UnknownCommandsAndFlagsNameTheNearest) {
  expect_refused(run_binary({"descrbe"}), 2, {"unknown command \"descrbe\"", "'describe'?"});
  expect_refused(run_binary({"banana", "--x", "y"}), 2, {"unknown command \"banana\"", "describe"});
  expect_refused(run_binary({"help", "descrbe"}), 2, {"'describe'?"});
  expect_refused(run_binary({"--verison"}), 2, {"unknown flag \"--verison\"", "'--version'?"});
  expect_refused(run_binary({"--set", "a=1", "describe"}), 2,
                 {"unknown flag \"--set\"", "after its name"});
  expect_refused(run_binary({"describe", "--markdwon", "tasks"}), 2,
                 {"unknown flag \"--markdwon\"", "'--markdown'?"});
  expect_refused(run_binary({"describe", "tasks", "config"}), 2,
                 {"unexpected argument \"config\""});
  expect_refused(run_binary({"describe", "--markdown", "--json-schema"}), 2,
                 {"--markdown", "--json-schema"});
  expect_refused(run_binary({"describe", "taks"}), 2, {"unknown topic \"taks\"", "'task"});
}

TEST(Front, DescribePrintsEveryTopic) {
  for (const char* topic : {"tasks", "attention", "metrics", "constructions", "config", "defaults",
                            "train.optimizer"}) {
    const BinaryResult r = run_binary({"describe", topic});
    EXPECT_EQ(r.exit_code, 0) << topic << r.err;
    EXPECT_GT(r.out.size(), 100u) << topic;
    EXPECT_EQ(run_binary({"describe", topic, "--markdown"}).exit_code, 0) << topic;
  }
  expect_parts(run_binary({"describe"}).out, {"tasks", "metrics"});
  expect_parts(run_binary({"describe", "--json-schema"}).out,
               {"2020-12", "\"additionalProperties\": false"});
}

TEST(Front, OutputIsTheSameUnderEveryLocale) {
  const std::string plain = run_binary({"describe", "config"}, {.environment = {"LC_ALL=C"}}).out;
  for (const char* locale :
       {"LC_ALL=de_DE.UTF-8", "LC_ALL=fr_FR.UTF-8", "LC_ALL=C.UTF-8", "LC_ALL=nonsense"}) {
    EXPECT_EQ(run_binary({"describe", "config"}, {.environment = {locale}}).out, plain) << locale;
  }
}

TEST(Front, AReaderThatGoesAwayIsNoError) {
  for (const long after : {0L, 1L, 100L}) {
    const BinaryResult r = run_binary({"describe", "config"}, {.close_stdout_after = after});
    EXPECT_EQ(r.exit_code, 0) << after;
    EXPECT_EQ(r.signal, 0) << after;
    EXPECT_EQ(r.err, "") << after;
  }
}

TEST(Front, AFullDiskIsOne) {
  expect_refused(run_binary({"describe", "config"}, {.stdout_path = "/dev/full"}), 3,
                 {"standard output", "space"});
}

}  // namespace headroom::front_test
