#include "core/fields.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/numbers.h"
#include "core/spelling.h"

namespace headroom {
namespace {

// As a person writes it: 1, 0.5, 1e-08.
std::string plain(double value) {
  std::string text = real_text(value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::string range_text(const RealRange& range) {
  const bool low = std::isfinite(range.low), high = std::isfinite(range.high);
  const std::string from = plain(range.low), to = plain(range.high);
  if (!low && !high) return "";
  if (!high) return range.low_open ? " above " + from : " of " + from + " or more";
  if (!low) return range.high_open ? " below " + to : " of " + to + " or less";
  std::string text = range.low_open ? " above " + from : " from " + from;
  if (range.high_open) {
    text += " and below " + to;
  } else {
    text += (range.low_open ? " and up to " : " to ") + to;
  }
  return text;
}

std::string range_text(const IntegerRange& range) {
  return " from " + std::to_string(range.low) + " to " + std::to_string(range.high);
}

std::string names_text(const std::vector<Fields::ChoiceRow>& choices) {
  std::vector<std::string> names;
  for (const auto& choice : choices) names.push_back(choice.name);
  return join(names);
}

// "budget": ..., "other": ...
std::string keys_text(const Fields& fields) {
  std::vector<std::string> keys;
  for (const Fields::Field& field : fields.rows()) keys.push_back("\"" + field.name + "\": ...");
  return join(keys);
}

}  // namespace

Fields::Field& Fields::add(std::string name, Kind kind, std::string sentence, bool nullable) {
  assert(find(name) == nullptr && "two fields of one name");
  if (rows_.empty()) rows_.reserve(16);  // a row is large to move
  Field& field = rows_.emplace_back();
  field.name = std::move(name);
  field.kind = kind;
  field.sentence = std::move(sentence);
  field.nullable = nullable;
  field.only_for = only_for_;
  return field;
}

Fields::Field& Fields::real(std::string name, double& storage, RealRange range,
                            std::string sentence) {
  Field& field = add(std::move(name), Kind::kReal, std::move(sentence));
  field.real_range = range;
  field.set_real = [&storage, fallback = storage](std::optional<double> value) {
    storage = value.value_or(fallback);
  };
  field.get_real = [&storage] { return std::optional<double>(storage); };
  return field;
}

Fields::Field& Fields::real(std::string name, std::optional<double>& storage, RealRange range,
                            std::string sentence) {
  Field& field = add(std::move(name), Kind::kReal, std::move(sentence), true);
  field.real_range = range;
  field.set_real = [&storage](std::optional<double> value) { storage = value; };
  field.get_real = [&storage] { return storage; };
  return field;
}

Fields::Field& Fields::boolean(std::string name, bool& storage, std::string sentence) {
  Field& field = add(std::move(name), Kind::kBoolean, std::move(sentence));
  field.set_boolean = [&storage, fallback = storage](std::optional<bool> value) {
    storage = value.value_or(fallback);
  };
  field.get_boolean = [&storage] { return std::optional<bool>(storage); };
  return field;
}

Fields::Field& Fields::boolean(std::string name, std::optional<bool>& storage,
                               std::string sentence) {
  Field& field = add(std::move(name), Kind::kBoolean, std::move(sentence), true);
  field.set_boolean = [&storage](std::optional<bool> value) { storage = value; };
  field.get_boolean = [&storage] { return storage; };
  return field;
}

Fields::Field& Fields::text(std::string name, std::string& storage, std::string sentence) {
  Field& field = add(std::move(name), Kind::kText, std::move(sentence));
  field.set_text = [&storage, fallback = storage](const std::optional<std::string>& value) {
    storage = value.value_or(fallback);
  };
  field.get_text = [&storage] { return storage; };
  return field;
}

Fields::Field& Fields::texts(std::string name, std::vector<std::string>& storage,
                             std::string sentence) {
  Field& field = add(std::move(name), Kind::kTexts, std::move(sentence));
  field.set_texts = [&storage,
                     fallback = storage](const std::optional<std::vector<std::string>>& values) {
    storage = values.value_or(fallback);
  };
  field.get_texts = [&storage] { return storage; };
  return field;
}

void Fields::only_for(std::vector<std::string> types) {
  [[maybe_unused]] const Field* type = find("type");
  assert(types.empty() || (type != nullptr && type->kind == Kind::kChoice && !type->nullable));
  only_for_ = std::move(types);
}

const Fields::Field* Fields::find(std::string_view name) const {
  const auto row =
      std::find_if(rows_.begin(), rows_.end(), [&](const Field& f) { return f.name == name; });
  return row == rows_.end() ? nullptr : &*row;
}

bool Fields::applies(const Field& field) const {
  if (field.only_for.empty()) return true;
  const Field& type = *find("type");
  const std::string& name = type.choices[*type.get_choice()].name;
  return std::find(field.only_for.begin(), field.only_for.end(), name) != field.only_for.end();
}

std::string value_text(const Fields::Field& field) {
  using Kind = Fields::Kind;
  switch (field.kind) {
    case Kind::kInteger:
      return "a whole number" + range_text(field.integer_range);
    case Kind::kReal:
      return "a number" + range_text(field.real_range);
    case Kind::kBoolean:
      return "true or false";
    case Kind::kText:
      return "a text";
    case Kind::kChoice:
      return (field.choices.size() == 1 ? "" : "one of ") + names_text(field.choices);
    case Kind::kReals:
      return "a list of " +
             (field.exact_length == 0 ? "" : std::to_string(field.exact_length) + " ") + "numbers" +
             (range_text(field.real_range).empty() ? "" : ", each" + range_text(field.real_range));
    case Kind::kTexts:
      return "a list of texts";
    case Kind::kSection:
      return "an object { ... }";
    case Kind::kChoiceOrReal:
      return "one of " + names_text(field.choices) + ", or a number" + range_text(field.real_range);
    case Kind::kIntegerOrSection:
      return "a whole number" + range_text(field.integer_range) + ", or an object { " +
             keys_text(*field.section) + " }";
  }
  assert(false);
  return "";
}

json::Value field_value(const Fields::Field& field) {
  using Kind = Fields::Kind;
  const auto or_null = [](const auto& value, const auto& make) {
    return value ? make(*value) : json::Value();
  };
  const auto choice_name = [&](std::size_t index) { return json::text(field.choices[index].name); };
  const auto real = [](double value) { return json::number(value); };
  const auto whole = [](std::uint64_t value) { return json::number(value); };
  switch (field.kind) {
    case Kind::kInteger:
      return or_null(field.get_integer(), whole);
    case Kind::kReal:
      return or_null(field.get_real(), real);
    case Kind::kBoolean:
      return or_null(field.get_boolean(), [](bool value) { return json::boolean(value); });
    case Kind::kText:
      return json::text(field.get_text());
    case Kind::kChoice:
      return or_null(field.get_choice(), choice_name);
    case Kind::kReals: {
      json::Array list;
      for (double value : field.get_reals()) list.push_back(json::number(value));
      return json::Value(std::move(list));
    }
    case Kind::kTexts: {
      json::Array list;
      for (const std::string& value : field.get_texts()) list.push_back(json::text(value));
      return json::Value(std::move(list));
    }
    case Kind::kSection:
      return field.get_present() ? write_fields(*field.section) : json::Value();
    case Kind::kChoiceOrReal:
      return field.get_real() ? real(*field.get_real()) : or_null(field.get_choice(), choice_name);
    case Kind::kIntegerOrSection:
      return field.get_present() ? write_fields(*field.section)
                                 : or_null(field.get_integer(), whole);
  }
  assert(false);
  return {};
}

json::Value write_fields(const Fields& fields) {
  json::Value object(json::Object{});
  for (const Fields::Field& field : fields.rows()) {
    if (fields.applies(field)) json::add(object, field.name, field_value(field));
  }
  return object;
}

}  // namespace headroom
