#include "core/spelling.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headroom::spelling_test {

const std::vector<std::string> kNames{"steps", "batch", "precision", "optimizer", "schedule", "lr"};

TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("tarin", "train"), 1u);  // a swap of neighbours
  EXPECT_EQ(edit_distance("Train", "train"), 0u);
}

TEST(NearestName, FindsSlips) {
  EXPECT_EQ(nearest_name("step", kNames), "steps");
  EXPECT_EQ(nearest_name("optimiser", kNames), "optimizer");
  EXPECT_EQ(nearest_name("precison", kNames), "precision");
  EXPECT_EQ(nearest_name("shcedule", kNames), "schedule");
  EXPECT_EQ(nearest_name("BATCH", kNames), "batch");
}

TEST(NearestName, FindsTheNameWithinAWord) {
  EXPECT_EQ(nearest_name("batch_size", kNames), "batch");
  EXPECT_EQ(nearest_name("max_train_steps", kNames), "steps");
}

TEST(NearestName, IsSilentWhereNothingIsNear) {
  EXPECT_EQ(nearest_name("banana", kNames), "");
  EXPECT_EQ(nearest_name("x", kNames), "");
  EXPECT_EQ(nearest_name("xy", kNames), "");  // two replacements of two letters
  EXPECT_EQ(nearest_name("", kNames), "");
  EXPECT_EQ(nearest_name(std::string(100000, 'a'), kNames), "");
  EXPECT_EQ(nearest_name("step", {}), "");
}

TEST(ShellWord, ReadsBackInAShell) {
  EXPECT_EQ(shell_word("runs/a-b_1.json"), "runs/a-b_1.json");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(InQuotes, FitsOneLine) {
  EXPECT_EQ(in_quotes("plain"), "\"plain\"");
  EXPECT_EQ(in_quotes("a\nb\t\"c\"\\"), "\"a\\nb\\t\\\"c\\\"\\\\\"");
  EXPECT_EQ(in_quotes("\x1b[31m"), "\"\\u001b[31m\"");  // no colours from a config file
  EXPECT_EQ(in_quotes("\xff"), "\"\\xff\"");
  EXPECT_EQ(in_quotes("größe"), "\"größe\"");
  EXPECT_LT(in_quotes(std::string(1000000, 'a')).size(), 100u);
}

TEST(Utf8, AcceptsWellFormedTextOnly) {
  for (const char* good : {"", "abc", "é", "漢字", "😀", "\xF4\x8F\xBF\xBF"})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (const char* bad :
       {"\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF8"}) {
    EXPECT_FALSE(is_utf8(bad)) << in_quotes(bad);
  }
}

}  // namespace headroom::spelling_test
