#include "config/describe.h"

#include <gtest/gtest.h>

#include <functional>

#include "config/read.h"
#include "config/write.h"
#include "core/expect_error.h"

namespace headroom::describe_test {

void expect_parts(const std::string& text, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin:\n" << text;
}

std::string text(const std::string& topic) { return describe(topic, DescribeFormat::kText); }

TEST(Describe, ConfigHoldsEveryFieldWithDefaultRangeAndSentence) {
  const std::string all = text("config");
  RunConfig config;
  Fields fields;
  config.declare(fields);
  std::size_t count = 0;
  const std::function<void(const Fields&, const std::string&)> walk = [&](const Fields& rows,
                                                                          const std::string& path) {
    for (const Fields::Field& field : rows.rows()) {
      const std::string here = path + field.name;
      if (field.kind != Fields::Kind::kSection) {
        ++count;
        expect_parts(all, {here + " = " + json::write(field_value(field), 0) + "   (" +
                               value_text(field) + ")",
                           field.sentence});
        for (const auto& choice : field.choices)
          expect_parts(all, {"      " + choice.name + " ", choice.sentence});
      }
      if (field.section) walk(*field.section, here + ".");
    }
  };
  walk(fields, "");
  EXPECT_GE(count, 50u);
  expect_parts(all, {"Only with train.optimizer.type sgd."});
}

TEST(Describe, DefaultsAreAConfig) {
  EXPECT_EQ(text("defaults"), config_text(RunConfig{}));
  EXPECT_EQ(config_text(read_run_config_text(text("defaults"))), text("defaults"));
}

TEST(Describe, TasksListEachWithItsOwnFields) {
  const std::string tasks = text("tasks");
  const std::size_t second = tasks.find("linear_regression: ");
  ASSERT_NE(second, std::string::npos);
  expect_parts(tasks.substr(0, second),
               {"nearest_neighbor: ", "task.query", "task.points ", "self_farthest"});
  EXPECT_EQ(tasks.substr(0, second).find("task.noise"), std::string::npos);
  expect_parts(tasks.substr(second),
               {"task.noise = 0.0", "task.points ", "task.curriculum.dims.every"});
  EXPECT_EQ(tasks.substr(second).find("task.query"), std::string::npos);
}

TEST(Describe, ConstructionsListTheirSettingsAndFormulas) {
  const std::string all = text("constructions");
  const std::size_t second = all.find("\ntalking_heads: ");
  ASSERT_NE(second, std::string::npos);
  expect_parts(all.substr(0, second), {"full_rank: one softmax head", "weights: W_Q = beta I",
                                       "loss: ", "dim = 64   (", "beta = 400.0   ("});
  EXPECT_EQ(all.substr(0, second).find("key_size = "), std::string::npos);
  expect_parts(all.substr(second), {"key_size = null   (", "heads = null   ("});
  expect_parts(describe("constructions", DescribeFormat::kMarkdown),
               {"## full_rank", "| `beta` | `400.0` |", "sqrt(2) beta"});
  expect_error([] { describe("constructions", DescribeFormat::kJsonSchema); }, {"json-schema"});
}

TEST(Describe, OtherTopics) {
  expect_parts(text("attention"),
               {"out = W_O z", "softmax  w_j = exp(s_j)", "hard     w_j", "for evaluation",
                "model.attention.key_size = null", "causal", "1 / key_size", "q / ||q||_2",
                "W_O W_V x", "fan_in    learned", "relative_bias  a learned number", "rotary"});
  expect_parts(text("metrics"), {"train.csv", "grad_norm", "eval.csv", "loss_sem"});
  expect_parts(text("train.optimizer"), {"train.optimizer.lr = 0.01"});
  EXPECT_EQ(text("train.optimizer").find("train.steps"), std::string::npos);
  expect_parts(text(""), {"tasks", "attention", "metrics", "config"});
}

TEST(Describe, UnknownTopicsNameTheNearest) {
  expect_error([] { text("task_list"); },
               {"unknown topic \"task_list\"", "topics: tasks, attention"});
  expect_error([] { text("atention"); }, {"'attention'?"});
  expect_error([] { text("train.optimzer"); }, {"'train.optimizer'?"});
  expect_error([] { text("train.steps"); }, {"unknown topic"});
  expect_error([] { describe("metrics", DescribeFormat::kJsonSchema); }, {"metrics", "schema"});
}

TEST(Describe, MarkdownTablesKeepTheirCells) {
  for (const char* topic : {"tasks", "attention", "config", "metrics", ""}) {
    const std::string table = describe(topic, DescribeFormat::kMarkdown);
    std::size_t columns = 0, start = 0;
    for (std::size_t end; (end = table.find('\n', start)) != std::string::npos; start = end + 1) {
      const std::string line = table.substr(start, end - start);
      if (line.empty() || line[0] != '|') {
        columns = 0;
        continue;
      }
      std::size_t bars = 0;
      for (std::size_t i = 0; i < line.size(); ++i)
        bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
      if (columns == 0) columns = bars;
      EXPECT_EQ(bars, columns) << line;
    }
  }
  expect_parts(describe("config", DescribeFormat::kMarkdown),
               {"| `train.optimizer.lr` | `0.01` | a number of 0 or more |"});
}

// The schema must say of each field what the reader does.
TEST(Describe, SchemaAgreesWithTheFields) {
  const json::Value schema = json::parse(describe("config", DescribeFormat::kJsonSchema), "schema");
  EXPECT_EQ(std::get<std::string>(schema.find("$schema")->data),
            "https://json-schema.org/draft/2020-12/schema");
  RunConfig config;
  Fields fields;
  config.declare(fields);
  const std::function<void(const Fields&, const json::Value&)> walk =
      [&](const Fields& rows, const json::Value& object) {
        EXPECT_FALSE(std::get<bool>(object.find("additionalProperties")->data));
        const json::Value& properties = *object.find("properties");
        for (const Fields::Field& field : rows.rows()) {
          const json::Value* row = properties.find(field.name);
          ASSERT_NE(row, nullptr) << field.name;
          const json::Array& forms = *row->find("anyOf")->array();
          EXPECT_EQ(json::write(forms.back(), 0), R"({"type":"null"})") << field.name;
          if (field.kind == Fields::Kind::kInteger) {
            EXPECT_EQ(json::write(*forms[0].find("minimum"), 0),
                      std::to_string(field.integer_range.low));
            EXPECT_EQ(json::write(*forms[0].find("maximum"), 0),
                      std::to_string(field.integer_range.high));
          }
          if (field.kind == Fields::Kind::kChoice) {
            EXPECT_EQ(forms[0].find("enum")->array()->size(), field.choices.size());
          }
          if (field.section) walk(*field.section, forms[forms.size() - 2]);
        }
      };
  walk(fields, schema);
  EXPECT_NE(schema.find("properties")->find("extends"), nullptr);
  expect_parts(describe("train.optimizer", DescribeFormat::kJsonSchema),
               {"\"exclusiveMaximum\": 1.0", "\"minItems\": 2", "\"minimum\": 1e-30"});
  expect_parts(describe("train", DescribeFormat::kJsonSchema), {"\"exclusiveMinimum\": 0.0"});
}

}  // namespace headroom::describe_test
