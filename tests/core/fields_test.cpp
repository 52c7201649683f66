#include "core/fields.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "core/expect_error.h"

namespace headroom::fields_test {

enum class Kind { kPlain, kFancy };
constexpr std::array kKinds{Choice<Kind>{Kind::kPlain, "plain", "nothing special"},
                            Choice<Kind>{Kind::kFancy, "fancy", "with trimmings"}};
enum class Scale { kRoot, kLearned };
constexpr std::array kScales{Choice<Scale>{Scale::kRoot, "root", "the square root"},
                             Choice<Scale>{Scale::kLearned, "learned", "a parameter"}};

struct Budget {
  std::string budget = "d^2";
  void declare(Fields& f) { f.text("budget", budget, "How much."); }
};
struct Inner {
  std::size_t size = 3;
  std::optional<double> bound;
  void declare(Fields& f) {
    f.integer("size", size, {1, 100}, "A size.").alias({"length"});
    f.real("bound", bound, {0, 1, true, true}, "A bound.");
  }
};
struct Outer {
  Kind type = Kind::kPlain;
  std::uint64_t seed = 5;
  std::uint8_t small = 7;
  std::optional<std::size_t> derived;
  double rate = 0.5;
  bool flag = true;
  std::optional<bool> maybe;
  std::string label = "none";
  std::optional<Kind> choice;
  std::array<double, 2> pair{0.25, 0.75};
  std::vector<std::string> words;
  std::variant<Scale, double> scale = Scale::kRoot;
  std::variant<std::size_t, Budget> heads = std::size_t{1};
  Inner inner;
  std::optional<Inner> extra;
  double trim = 1;
  void declare(Fields& f) {
    f.choice("type", type, kKinds, "The kind.");
    f.integer("seed", seed, {}, "A seed.");
    f.integer("small", small, {1, 1000}, "Fits a byte.");
    f.integer("derived", derived, {1, 10}, "Derived where null.");
    f.real("rate", rate, {0, INFINITY}, "A rate.").alias({"learning_rate"});
    f.boolean("flag", flag, "A flag.");
    f.boolean("maybe", maybe, "A flag or null.");
    f.text("label", label, "A label.");
    f.choice("choice", choice, kKinds, "A name or null.");
    f.reals("pair", pair, {0, 1, false, true}, "Two numbers.");
    f.texts("words", words, "Texts.");
    f.choice_or_real("scale", scale, kScales, {0, 10}, "A name or a number.");
    f.integer_or_section("heads", heads, {1, 64}, "A number or a budget.");
    f.section("inner", inner, "Always there.");
    f.section("extra", extra, "There or not.");
    f.only_for({"fancy"});
    f.real("trim", trim, {0, 2}, "Only for fancy.");
    f.only_for({});
  }
};

Outer read(const std::string& text) {
  Outer outer;
  Fields fields;
  outer.declare(fields);
  read_fields(json::parse(text, "a.json"), fields);
  return outer;
}
std::string written(Outer outer) {
  Fields fields;
  outer.declare(fields);
  return json::write(write_fields(fields), 0);
}
void refused(const std::string& text, std::initializer_list<std::string> parts) {
  SCOPED_TRACE(text);
  expect_error([&] { read(text); }, parts);
}

TEST(FieldsRead, SetsEveryKind) {
  const Outer o = read(
      R"({"type": "fancy", "seed": 18446744073709551615, "small": 255, "derived": 4, "rate": 1e-5,
      "flag": false, "maybe": true, "label": "x", "choice": "plain", "pair": [0, 0.5], "words": ["a", "b*"],
      "scale": 0.125, "heads": {"budget": "d^2.5"}, "inner": {"size": 1e2, "bound": 0.5}, "extra": {}, "trim": 2})");
  EXPECT_EQ(o.type, Kind::kFancy);
  EXPECT_EQ(o.seed, 18446744073709551615u);
  EXPECT_EQ(o.small, 255);
  EXPECT_EQ(o.derived, 4u);
  EXPECT_EQ(o.rate, 1e-5);
  EXPECT_FALSE(o.flag);
  EXPECT_EQ(o.maybe, true);
  EXPECT_EQ(o.label, "x");
  EXPECT_EQ(o.choice, Kind::kPlain);
  EXPECT_EQ(o.pair, (std::array{0.0, 0.5}));
  EXPECT_EQ(o.words, (std::vector<std::string>{"a", "b*"}));
  EXPECT_EQ(std::get<double>(o.scale), 0.125);
  EXPECT_EQ(std::get<Budget>(o.heads).budget, "d^2.5");
  EXPECT_EQ(o.inner.size, 100u);
  EXPECT_EQ(o.inner.bound, 0.5);
  ASSERT_TRUE(o.extra);
  EXPECT_EQ(o.extra->size, 3u);
  EXPECT_EQ(o.trim, 2);
}

TEST(FieldsRead, NullIsTheDefault) {
  const Outer o = read(
      R"({"type": null, "seed": null, "small": null, "derived": null, "rate": null, "flag": null,
      "maybe": null, "label": null, "choice": null, "pair": null, "words": null, "scale": null, "heads": null,
      "inner": null, "extra": null, "trim": null})");
  EXPECT_EQ(written(o), written(Outer{}));
}

TEST(FieldsRead, NullRestoresWhatAnotherValueWas) {
  Outer outer;
  Fields fields;
  outer.declare(fields);
  read_fields(
      json::parse(R"({"seed": 9, "scale": "learned", "heads": {"budget": "x"}, "inner": {"size": 9},
      "extra": {"size": 9}, "pair": [0, 0], "derived": 2, "label": "y"})",
                  "a"),
      fields);
  EXPECT_NE(written(outer), written(Outer{}));
  read_fields(
      json::parse(R"({"seed": null, "scale": null, "heads": null, "inner": null, "extra": null,
      "pair": null, "derived": null, "label": null})",
                  "a"),
      fields);
  EXPECT_EQ(written(outer), written(Outer{}));
}

TEST(FieldsRead, TwoWayKindsTakeEither) {
  EXPECT_EQ(std::get<Scale>(read(R"({"scale": "learned"})").scale), Scale::kLearned);
  EXPECT_EQ(std::get<double>(read(R"({"scale": 2})").scale), 2.0);
  EXPECT_EQ(std::get<std::size_t>(read(R"({"heads": 8})").heads), 8u);
  EXPECT_EQ(std::get<Budget>(read(R"({"heads": {}})").heads).budget, "d^2");
  refused(R"({"scale": "lerned"})",
          {"a.json:1: scale: ", "\"lerned\"", "root, learned", "or a number", "'learned'?"});
  refused(R"({"scale": 11})", {"scale: 11 is out of range", "from 0 to 10"});
  refused(R"({"scale": true})",
          {"scale: expected one of root, learned, or a number", "found true"});
  refused(R"({"heads": 65})", {"heads: 65 is out of range", "from 1 to 64"});
  refused(R"({"heads": "8"})",
          {"heads: expected a whole number from 1 to 64, or an object", "\"8\""});
  refused(R"({"heads": {"buget": "x"}})", {"heads.buget: unknown key", "'budget'?"});
}

TEST(FieldsRead, NamesUnknownKeysAndTheNearest) {
  refused("{\n\"inner\": {\n\"sise\": 1}}",
          {"a.json:3: inner.sise: unknown key; did you mean 'size'?"});
  refused(R"({"learning_rte": 1})",
          {"a.json:1: learning_rte: unknown key; did you mean 'rate'?"});  // by an alias
  refused(R"({"inner": {"seed_size": 1}})", {"inner.seed_size: ", "'size'?"});
  refused(R"({"extra": {"sizes": 1}})", {"extra.sizes: ", "'size'?"});
  refused(R"({"bound": 1})",
          {"bound: unknown key; did you mean 'inner.bound'?"});  // of another section
  refused(R"({"inner": {"label": 1}})", {"inner.label: unknown key; did you mean 'label'?"});
  refused(R"({"inner.size": 1})", {"inner.size: unknown key", "nests"});
  refused(R"({"inner": {"sice": 1}})", {"inner.sice: ", "'size'?"});
  refused(R"({"inner": {"length": 1}})", {"inner.length: unknown key; did you mean 'size'?"});
  refused(R"({"buget": 1})", {"did you mean 'heads.budget'?"});
  refused(R"({"zzzzzz": 1})", {"zzzzzz: unknown key; known here: type, seed"});
  refused("{\"a\\nb\\u001b\": 1}", {"a\\nb\\u001b"});
}

TEST(FieldsRead, NamesWrongTypes) {
  refused(R"({"seed": "7"})", {"a.json:1: seed: expected a whole number", "found the text \"7\""});
  refused(R"({"seed": true})", {"seed: ", "found true"});
  refused(R"({"seed": [1]})", {"seed: ", "found a list"});
  refused(R"({"rate": {}})", {"rate: expected a number of 0 or more", "found an object"});
  refused(R"({"flag": "False"})",
          {"flag: expected true or false, found the text \"False\"; did you mean 'false'?"});
  refused(R"({"flag": 0})", {"flag: expected true or false, found 0"});
  refused(R"({"label": 5})", {"label: expected a text, found 5"});
  refused(R"({"type": "fanci"})",
          {"type: unknown name \"fanci\"; expected one of plain, fancy; did you mean 'fancy'?"});
  refused(R"({"type": 1})", {"type: expected one of plain, fancy, found 1"});
  refused(R"({"pair": [1]})", {"pair: expected a list of 2 numbers", "found 1 entries"});
  refused(R"({"pair": 0.5})", {"pair: expected a list of 2 numbers", "found 0.5"});
  refused(R"({"words": "a"})", {"words: expected a list of texts", "\"a\""});
  refused(R"({"words": ["a", 1]})", {"words: expected a list of texts, found 1 in the list"});
  refused(R"({"inner": 5})", {"inner: expected an object", "found 5"});
  refused("[1]", {"a.json:1: expected an object", "found a list"});
}

TEST(FieldsRead, NeverWrapsClampsOrRounds) {
  EXPECT_EQ(read(R"({"derived": 1e1})").derived, 10u);
  refused(R"({"derived": 1.5})",
          {"derived: 1.5 is not whole; expected a whole number from 1 to 10"});
  refused(R"({"derived": 0})",
          {"derived: 0 is out of range; expected a whole number from 1 to 10"});
  refused(R"({"derived": 11})", {"derived: 11 is out of range"});
  refused(R"({"seed": -1})",
          {"seed: -1 is out of range; expected a whole number from 0 to 18446744073709551615"});
  refused(R"({"seed": 18446744073709551616})", {"seed: 18446744073709551616 is out of range"});
  refused(R"({"seed": 1e30})", {"seed: 1e30 is out of range"});
  refused(R"({"small": 256})",
          {"small: 256 is out of range; expected a whole number from 1 to 255"});
  refused(R"({"rate": -0.5})", {"rate: -0.5 is out of range; expected a number of 0 or more"});
  refused(R"({"rate": 1e-400})", {"rate: 1e-400 is out of range"});
  refused(R"({"inner": {"bound": 0}})",
          {"inner.bound: 0 is out of range; expected a number above 0 and below 1"});
  refused(R"({"inner": {"bound": 1}})", {"inner.bound: 1 is out of range"});
  refused(R"({"pair": [0.5, 1]})", {"pair: 1 is out of range", "from 0 and below 1"});
}

TEST(FieldsRead, FieldsOfAnotherTypeAreRefused) {
  EXPECT_EQ(read(R"({"trim": 0.5, "type": "fancy"})").trim, 0.5);  // whichever comes first
  EXPECT_EQ(read(R"({"trim": null})").trim, 1);
  refused("{\"type\": \"plain\",\n\"trim\": 0.5}",
          {"a.json:2: trim: goes with type fancy, not with plain"});
  refused(R"({"trim": 0.5})", {"trim: goes with type fancy, not with plain"});
}

TEST(FieldsRead, ALaterChoiceOfTypeDropsTheFieldsOfTheOld) {
  json::Value base = json::parse(R"({"type": "fancy", "trim": 0.5})", "base.json");
  json::Value over = json::parse(R"({"type": "plain"})", "over.json");
  json::set_layer(base, 1);
  json::set_layer(over, 2);
  json::merge(base, over);
  Outer outer;
  Fields fields;
  outer.declare(fields);
  read_fields(base, fields);
  EXPECT_EQ(outer.type, Kind::kPlain);
  EXPECT_EQ(outer.trim, 1);
  // Given together with the type, or after it, it stays a mistake.
  json::Value late = json::parse(R"({"trim": 0.5})", "late.json");
  json::set_layer(late, 3);
  json::merge(base, late);
  expect_error([&] { read_fields(base, fields); }, {"late.json:1: trim: goes with type fancy"});
}

TEST(FieldsWrite, WritesWhatAppliesAndReadsItBack) {
  EXPECT_EQ(
      written(Outer{}),
      R"({"type":"plain","seed":5,"small":7,"derived":null,"rate":0.5,"flag":true,"maybe":null,"label":"none",)"
      R"("choice":null,"pair":[0.25,0.75],"words":[],"scale":"root","heads":1,)"
      R"("inner":{"size":3,"bound":null},"extra":null})");
  const std::string all =
      R"({"type":"fancy","seed":1,"small":2,"derived":3,"rate":0.1,"flag":false,"maybe":false,"label":"é \"x\"",)"
      R"("choice":"fancy","pair":[0.0,0.5],"words":["a"],"scale":2.0,"heads":{"budget":"b"},)"
      R"("inner":{"size":4,"bound":0.5},"extra":{"size":5,"bound":null},"trim":1.5})";
  EXPECT_EQ(written(read(all)), all);
}

TEST(FieldAt, FindsByPath) {
  Outer outer;
  Fields fields;
  outer.declare(fields);
  EXPECT_EQ(field_at(fields, "inner.size", "").name, "size");
  EXPECT_EQ(field_at(fields, "extra.bound", "").name, "bound");  // though it is absent
  EXPECT_EQ(field_at(fields, "heads.budget", "").name, "budget");
  expect_error([&] { field_at(fields, "inner.sise", "--set"); },
               {"--set: inner.sise: unknown key", "'size'?"});
  expect_error([&] { field_at(fields, "pair.0", "--set"); },
               {"--set: pair.0: ", "list of 2 numbers", "as a whole"});
  expect_error([&] { field_at(fields, "pair[0]", "--set"); }, {"pair[0]", "'pair'?"});
  expect_error([&] { field_at(fields, "inner..size", "--set"); }, {"unknown key"});
  expect_error([&] { field_at(fields, "", "--set"); }, {"unknown key"});
  EXPECT_EQ(find_path(fields, "length"), "inner.size");
  EXPECT_EQ(find_path(fields, "nothing"), "");
}

}  // namespace headroom::fields_test
