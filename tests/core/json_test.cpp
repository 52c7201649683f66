#include "core/json.h"

#include <gtest/gtest.h>

#include <clocale>
#include <filesystem>
#include <fstream>

#include "core/expect_error.h"

namespace headroom::json {
namespace {

Value read(const std::string& text) { return parse(text, "a.json"); }
void refused(const std::string& text, std::initializer_list<std::string> parts) {
  SCOPED_TRACE(text.substr(0, 100));
  expect_error([&] { read(text); }, parts);
}
std::string number_at(const Value& value, const char* key) {
  const Value* member = value.find(key);
  const Number* number = member == nullptr ? nullptr : std::get_if<Number>(&member->data);
  return number == nullptr ? "none" : number->text;
}

TEST(JsonParse, ReadsEveryKindWithItsLine) {
  const Value value = read(
      "{ // a comment\n \"a\": 1, \"b\": [true, null,\n 2.5],\n /* more */ \"c\": "
      "\"\\u00e9\",\n\"d\"\n:{}}");
  EXPECT_EQ(number_at(value, "a"), "1");
  EXPECT_EQ(value.find("a")->origin.text(), "a.json:2");
  const Array& list = *value.find("b")->array();
  EXPECT_EQ(list.size(), 3u);
  EXPECT_TRUE(std::get<bool>(list[0].data));
  EXPECT_TRUE(list[1].is_null());
  EXPECT_EQ(list[2].origin.line, 3u);
  EXPECT_EQ(std::get<std::string>(value.find("c")->data), "é");
  EXPECT_EQ(value.find("d")->origin.line, 5u);  // that of its key
  EXPECT_EQ(value.find("e"), nullptr);
}

TEST(JsonParse, NumbersKeepTheirText) {
  const Value value = read(
      "{\"a\":1e3,\"b\":18446744073709551616,\"c\":-1,\"d\":0.10,\"e\":18446744073709551615,"
      "\n\"f\":7\n}");
  EXPECT_EQ(number_at(value, "a"), "1e3");
  EXPECT_EQ(number_at(value, "b"), "18446744073709551616");
  EXPECT_EQ(number_at(value, "c"), "-1");
  EXPECT_EQ(number_at(value, "d"), "0.10");
  EXPECT_EQ(number_at(value, "e"), "18446744073709551615");
  EXPECT_EQ(read("[1,\n2\n,\n3]").array()->at(1).origin.line,
            2u);  // though the parser reads on to the newline
}

TEST(JsonParse, AcceptsByteOrderMarkAndCrlf) {
  const Value value = read("\xEF\xBB\xBF{\r\n\"a\": 1,\r\n\"b\": 2\r\n}\r\n");
  EXPECT_EQ(value.find("b")->origin.line, 3u);
}

TEST(JsonParse, RefusesDuplicateKeysNamingBothPlaces) {
  refused("{\n\"a\": 1,\n\"b\": 2,\n\"a\": 3}", {"a.json:4: ", "\"a\"", "line 2"});
  refused("{\"x\": {\"k\": 1,\n\"k\": 1}}", {"a.json:2: ", "\"k\"", "line 1"});
  EXPECT_NO_THROW(read("{\"a\": {\"k\": 1}, \"b\": {\"k\": 1}}"));
}

TEST(JsonParse, NamesLineAndColumnOfEveryMistake) {
  refused("{\n  \"a\": 1,\n}", {"a.json:3:1: ", "comma before '}'"});
  refused("{\"a\": 1, // the last\n}", {"a.json:2:1: ", "comma before '}'"});
  refused("{\"a\": [1, 2,]}", {"a.json:1:13: ", "comma before ']'"});
  refused("{'a': 1}", {"a.json:1:2: ", "single quotes"});
  refused("{\"a\": 'x'}", {"a.json:1:7: ", "single quotes"});
  refused("{\"a\": NaN}", {"a.json:1:7: ", "\"NaN\" is not JSON"});
  refused("{\"a\": nan}", {"a.json:1:7: ", "\"nan\" is not JSON"});
  refused("{\"a\": -Infinity}", {"a.json:1:7: ", "\"-Infinity\" is not JSON"});
  refused("{\"a\": False}", {"a.json:1:7: ", "write false"});
  refused("{\"a\": None}", {"a.json:1:7: ", "write null"});
  refused("{", {"a.json:1:2: ", "'{' of line 1"});
  refused("{\"a\": [\n1,\n", {"a.json:3:1: ", "'[' of line 1"});
  refused("}", {"a.json:1:1: ", "where a value is due"});
  refused("", {"a.json:1:1: ", "no value"});
  refused(" \n // nothing\n", {"a.json:3:1: ", "no value"});
  refused("{a: 1}", {"a.json:1:2: ", "key in double quotes"});
  refused("{\"a\" 1}", {"a.json:1:6: ", "':'"});
  refused("{\"a\": 1 \"b\": 2}", {"a.json:1:9: ", "',' or '}'"});
  refused("[1 2]", {"a.json:1:4: ", "',' or ']'"});
  refused("{} x", {"a.json:1:4: ", "after the end"});
  refused("{}}", {"a.json:1:3: ", "after the end"});
  refused("{\"a\": 1.}", {"a.json:1:"});
  refused("{\"a\": 01}", {"a.json:1:7: ", "01"});
  refused("{\"a\": 1e400}", {"a.json:1:7: ", "1e400", "largest"});
  refused("{\"a\": \"x\n\"}", {"a.json:1:9: ", "not closed"});
  refused("{\"a\": \"x", {"a.json:1:9: ", "within a text"});
  refused("{\"a\": \"\\q\"}", {"a.json:1:9: ", "escape"});
  refused("{\"a\": \"\\ud800\"}", {"a.json:1:", "escape"});
  refused("{\"a\": \"\x01\"}", {"a.json:1:8: ", "control character"});
  refused("{\"a\": \"\xff\"}", {"a.json:1:8: ", "UTF-8"});
  refused("{\"a\": /* 1}", {"a.json:1:", "within a comment"});
  refused("{\"a\": / 1}", {"a.json:1:", "comment"});
  refused("{\"é\": x}", {"a.json:1:7: "});  // columns count characters
}

TEST(JsonParse, StopsAtANulInsteadOfIgnoringTheRest) {
  refused(std::string("{}\0garbage", 10), {"a.json:1:3: ", "NUL"});
  refused(std::string("{\"a\": \"x\0\"}", 11), {"NUL"});
}

TEST(JsonParse, LimitsDepthWithoutRecursion) {
  EXPECT_NO_THROW(read(std::string(kMaxDepth, '[') + std::string(kMaxDepth, ']')));
  refused(std::string(kMaxDepth + 1, '[') + std::string(kMaxDepth + 1, ']'),
          {"a.json:1: ", "64 levels"});
  refused(std::string(100000, '['), {"64 levels"});
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  refused(objects, {"64 levels"});
}

TEST(JsonParse, LimitsSizeAndCount) {
  refused(std::string(kMaxBytes + 1, ' '), {"a.json", "16 MB"});
  std::string many = "[0";
  for (std::size_t i = 0; i < kMaxValues; ++i) many += ",0";
  refused(many + "]", {"1000000 values"});
  // Many distinct keys must not take quadratic time.
  std::string keys = "{\"k\":0";
  for (int i = 0; i < 300000; ++i) keys += ",\"" + std::to_string(i) + "\":0";
  EXPECT_EQ(read(keys + "}").object()->size(), 300001u);
}

TEST(JsonParse, SurvivesEveryPrefixAndEveryChangedByte) {
  const std::string good =
      "{\"a\": [1.5e3, -2, true, null], // c\n \"é\": {\"x\\n\": \"y\"} /* d */ }\n";
  EXPECT_NO_THROW(read(good));
  std::size_t refusals = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    try {
      read(good.substr(0, i));
    } catch (const Error&) {
      ++refusals;
    }
    for (int c = 0; c < 256; ++c) {
      std::string changed = good;
      changed[i] = static_cast<char>(c);
      try {
        read(changed);
      } catch (const Error& error) {
        ASSERT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        ++refusals;
      }
    }
  }
  EXPECT_GT(refusals, 1000u);
}

TEST(JsonParse, ReadsTheSameUnderACommaLocale) {
  const std::string old = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "C.UTF-8"}) {
    if (std::setlocale(LC_ALL, name) != nullptr) break;
  }
  EXPECT_EQ(number_at(read("{\"a\": 1.25e-3}"), "a"), "1.25e-3");
  std::setlocale(LC_ALL, old.c_str());
}

TEST(JsonFile, NamesThePath) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "json file ü";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "c.json").string();
  std::ofstream(path) << "{\"a\": 1,}";
  expect_error([&] { parse_file(path); }, {path + ":1:9: "});
  expect_error([&] { parse_file((folder / "none.json").string()); }, {"none.json"}, Exit::kFile);
  expect_error([&] { parse_file(folder.string()); }, {folder.string()}, Exit::kFile);
  // A sparse file of 1 GB is refused by its size, unread.
  std::ofstream(path) << "{}";
  std::filesystem::resize_file(path, 1u << 30);
  expect_error([&] { parse_file(path); }, {path, "16 MB"});
  std::filesystem::remove_all(folder);
}

TEST(JsonWrite, LaysOutAndReadsBack) {
  Value value;
  add(value, "name", text("a \"b\"\n\x01 é"));
  add(value, "list", Value(Array{number(0.5), number(std::uint64_t{3})}));
  add(value, "empty", Value(Object{}));
  Value inner;
  add(inner, "flag", boolean(false));
  add(inner, "none", Value());
  add(value, "inner", inner);
  EXPECT_EQ(write(value),
            "{\n  \"name\": \"a \\\"b\\\"\\n\\u0001 é\",\n  \"list\": [0.5, 3],\n  \"empty\": {},\n"
            "  \"inner\": {\n    \"flag\": false,\n    \"none\": null\n  }\n}");
  EXPECT_EQ(write(inner, 0), "{\"flag\":false,\"none\":null}");
  EXPECT_EQ(write(read(write(value))), write(value));
}

TEST(JsonWrite, IsAlwaysUtf8) {
  EXPECT_EQ(write(text("a\xff\xc3(\xed\xa0\x80 \u00FC"), 0),
            "\"a\uFFFD\uFFFD(\uFFFD\uFFFD\uFFFD \u00FC\"");
}

TEST(JsonWrite, SpellsNumbersThatJsonLacks) {
  EXPECT_EQ(write(number(std::numeric_limits<double>::quiet_NaN())), "\"nan\"");
  EXPECT_EQ(write(number(-std::numeric_limits<double>::infinity())), "\"-inf\"");
  EXPECT_EQ(write(number(1.0)), "1.0");
  EXPECT_EQ(write(number(std::numeric_limits<std::uint64_t>::max())), "18446744073709551615");
}

TEST(JsonMerge, MergesObjectsAndReplacesTheRest) {
  Value base = read("{\"a\": {\"x\": 1, \"y\": [1, 2]}, \"b\": 1, \"c\": {\"z\": 1}}");
  merge(base, read("{\"a\": {\"y\": [3]}, \"b\": {\"q\": 2}, \"c\": null, \"d\": 4}"));
  EXPECT_EQ(write(base, 0), "{\"a\":{\"x\":1,\"y\":[3]},\"b\":{\"q\":2},\"c\":null,\"d\":4}");
}

}  // namespace
}  // namespace headroom::json
