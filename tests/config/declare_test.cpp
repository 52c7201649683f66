// What holds for every field of the config, whatever it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "config/read.h"
#include "config/write.h"
#include "core/expect_error.h"

namespace headroom::declare_test {

using Field = Fields::Field;
using Kind = Fields::Kind;

// Calls visit(field, path, siblings) for every field of the config.
void walk(const Fields& fields, const std::string& path,
          const std::function<void(const Field&, const std::string&, const Fields&)>& visit) {
  for (const Field& field : fields.rows()) {
    const std::string here = path.empty() ? field.name : path + "." + field.name;
    visit(field, here, fields);
    if (field.section) walk(*field.section, here, visit);
  }
}
void walk_config(
    const std::function<void(const Field&, const std::string&, const Fields&)>& visit) {
  RunConfig config;
  Fields fields;
  config.declare(fields);
  walk(fields, "", visit);
}

RunConfig with(const std::vector<std::string>& sets) { return read_run_config_text("{}", sets); }

// "a.b" -> {"a": {"b": 1}}, each key on a line of its own.
std::string nested(const std::string& path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string::npos) return "{\n\"" + path + "\": 1}";
  return "{\n\"" + path.substr(0, dot) + "\": " + nested(path.substr(dot + 1)) + "}";
}

TEST(Declare, EveryFieldHasAnOwnNameAndASentence) {
  std::size_t count = 0;
  walk_config([&](const Field& field, const std::string& path, const Fields&) {
    ++count;
    EXPECT_FALSE(field.sentence.empty()) << path;
    EXPECT_EQ(field.sentence.back(), '.') << path;
    for (const auto& choice : field.choices)
      EXPECT_FALSE(choice.sentence.empty()) << path << " " << choice.name;
    for (char c : field.name) EXPECT_TRUE((c >= 'a' && c <= 'z') || c == '_') << path;
  });
  EXPECT_GE(count, 60u);
}

TEST(Declare, EveryAliasLeadsToItsField) {
  walk_config([&](const Field& field, const std::string& path, const Fields& siblings) {
    for (const std::string& alias : field.aliases) {
      EXPECT_EQ(siblings.find(alias), nullptr) << path << ": " << alias << " is a field itself";
      for (const Field& other : siblings.rows()) {
        if (other.name == field.name) continue;
        EXPECT_EQ(std::count(other.aliases.begin(), other.aliases.end(), alias), 0)
            << path << ": " << alias;
      }
      const std::string parent = path.substr(0, path.size() - field.name.size());
      expect_error(
          [&] { with({parent + alias + "=1"}); },
          {"--set: " + parent + alias + ": unknown key; did you mean '" + field.name + "'"});
    }
  });
}

TEST(Declare, EveryMisspeltKeyIsAnErrorThatNamesTheRightOne) {
  walk_config([](const Field& field, const std::string& path, const Fields& siblings) {
    const std::string parent = path.substr(0, path.size() - field.name.size());
    std::string wrong = field.name;
    wrong.insert(wrong.size() / 2, "x");
    if (siblings.find(wrong) != nullptr) return;
    // As --set and, nested, in a file.
    expect_error([&] { with({parent + wrong + "=1"}); },
                 {parent + wrong + ": unknown key; did you mean '"});
    const std::string text = nested(parent + wrong);
    expect_error([&] { read_run_config_text(text, {}, "a.json"); },
                 {"a.json:", ": " + parent + wrong + ": unknown key; did you mean '"});
  });
}

TEST(Declare, NullIsAcceptedEverywhereAndMeansTheDefault) {
  const std::string defaults = config_text(RunConfig{});
  walk_config([&](const Field&, const std::string& path, const Fields&) {
    // These set the section itself, though to nothing.
    if (path.starts_with("task.curriculum.") || path == "model.attention.heads.budget") return;
    EXPECT_EQ(config_text(with({path + "=null"})), defaults) << path;
  });
}

TEST(Declare, EveryRangeHoldsAtItsEnds) {
  walk_config([](const Field& field, const std::string& path, const Fields&) {
    if (field.kind == Kind::kInteger) {
      for (const char* value : {"-1", "18446744073709551616", "1e30"}) {
        expect_error([&] { with({path + "=" + value}); },
                     {"--set: " + path + ": " + value + " is out of range"});
      }
      expect_error([&] { with({path + "=1.5"}); }, {path + ": 1.5 is not whole"});
      if (field.integer_range.low > 0) {
        expect_error([&] { with({path + "=0"}); }, {path + ": 0 is out of range"});
      }
    }
    if (field.kind == Kind::kReal) {
      expect_error([&] { with({path + "=-0.5"}); }, {"--set: " + path + ": -0.5 is out of range"});
      expect_error([&] { with({path + "=1e400"}); }, {path + ": "});
      expect_error([&] { with({path + "=nan"}); }, {path + ": expected a number", "nan"});
    }
    if (field.kind == Kind::kBoolean) {
      expect_error([&] { with({path + "=False"}); },
                   {path + ": expected true or false", "'false'"});
    }
    if (field.kind == Kind::kChoice) {
      expect_error([&] { with({path + "=" + field.choices[0].name + "x"}); },
                   {path + ": unknown name", "did you mean '" + field.choices[0].name + "'?"});
    }
    if (field.kind == Kind::kSection) {
      expect_error([&] { with({path + "=7"}); }, {path + ": expected an object", "found 7"});
    }
  });
}

}  // namespace headroom::declare_test
