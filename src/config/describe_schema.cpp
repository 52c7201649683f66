#include <cmath>

#include "config/describe_format.h"
#include "core/spelling.h"

namespace headroom {
namespace {

using Field = Fields::Field;
using json::add;
using json::text;

json::Value list(json::Array entries) { return json::Value(std::move(entries)); }

json::Value object_schema(const Fields& fields);

json::Value integer_schema(const IntegerRange& range) {
  json::Value schema;
  add(schema, "type", text("integer"));
  add(schema, "minimum", json::number(range.low));
  add(schema, "maximum", json::number(range.high));
  return schema;
}

json::Value real_schema(const RealRange& range) {
  json::Value schema;
  add(schema, "type", text("number"));
  if (std::isfinite(range.low)) {
    add(schema, range.low_open ? "exclusiveMinimum" : "minimum", json::number(range.low));
  }
  if (std::isfinite(range.high)) {
    add(schema, range.high_open ? "exclusiveMaximum" : "maximum", json::number(range.high));
  }
  return schema;
}

json::Value choice_schema(const Field& field) {
  json::Array names;
  for (const auto& choice : field.choices) names.push_back(text(choice.name));
  json::Value schema;
  add(schema, "enum", list(std::move(names)));
  return schema;
}

json::Value list_schema(const Field& field, json::Value items) {
  json::Value schema;
  add(schema, "type", text("array"));
  add(schema, "items", std::move(items));
  if (field.exact_length != 0) {
    add(schema, "minItems", json::number(std::uint64_t{field.exact_length}));
    add(schema, "maxItems", json::number(std::uint64_t{field.exact_length}));
  }
  return schema;
}

json::Value typed(const char* type) {
  json::Value schema;
  add(schema, "type", text(type));
  return schema;
}

// What the field takes besides null: one schema or, of the two-way kinds, two.
json::Array forms(const Field& field) {
  switch (field.kind) {
    case Fields::Kind::kInteger:
      return {integer_schema(field.integer_range)};
    case Fields::Kind::kReal:
      return {real_schema(field.real_range)};
    case Fields::Kind::kBoolean:
      return {typed("boolean")};
    case Fields::Kind::kText:
      return {typed("string")};
    case Fields::Kind::kChoice:
      return {choice_schema(field)};
    case Fields::Kind::kReals:
      return {list_schema(field, real_schema(field.real_range))};
    case Fields::Kind::kTexts:
      return {list_schema(field, typed("string"))};
    case Fields::Kind::kSection:
      return {object_schema(*field.section)};
    case Fields::Kind::kChoiceOrReal:
      return {choice_schema(field), real_schema(field.real_range)};
    case Fields::Kind::kIntegerOrSection:
      return {integer_schema(field.integer_range), object_schema(*field.section)};
  }
  return {};
}

json::Value field_schema(const Field& field) {
  std::string description = field.sentence;
  for (const auto& choice : field.choices)
    description += "\n" + choice.name + ": " + choice.sentence;
  if (!field.only_for.empty())
    description += "\nOnly with type " + join(field.only_for, " or ") + ".";
  json::Array any = forms(field);
  any.push_back(typed("null"));  // null restores the default, everywhere
  json::Value schema;
  add(schema, "description", text(description));
  if (field.kind != Fields::Kind::kSection) add(schema, "default", field_value(field));
  add(schema, "anyOf", list(std::move(any)));
  return schema;
}

json::Value properties(const Fields& fields) {
  json::Value rows(json::Object{});
  for (const Field& field : fields.rows()) add(rows, field.name, field_schema(field));
  return rows;
}

json::Value object_schema(const Fields& fields) {
  json::Value schema = typed("object");
  add(schema, "properties", properties(fields));
  add(schema, "additionalProperties", json::boolean(false));
  return schema;
}

json::Value extends_schema() {
  Field paths;
  json::Value schema;
  add(schema, "description",
      text("A config file, or a list of them, under this one; paths relative to this file, later "
           "ones win."));
  add(schema, "anyOf", list({typed("string"), list_schema(paths, typed("string")), typed("null")}));
  return schema;
}

}  // namespace

json::Value fields_as_schema(const Fields& fields, const std::string& title, bool root) {
  json::Value schema;
  add(schema, "$schema", text("https://json-schema.org/draft/2020-12/schema"));
  add(schema, "title", text(title));
  add(schema, "type", text("object"));
  json::Value rows = properties(fields);
  if (root) add(rows, "extends", extends_schema());
  add(schema, "properties", std::move(rows));
  add(schema, "additionalProperties", json::boolean(false));
  return schema;
}

}  // namespace headroom
