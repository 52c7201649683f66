// The strict reader: every mistake in a document becomes one line that says where, what and what
// instead.
#include <algorithm>

#include "core/error.h"
#include "core/fields.h"
#include "core/numbers.h"
#include "core/spelling.h"

namespace headroom {
namespace {

using Field = Fields::Field;
using Kind = Fields::Kind;

[[noreturn]] void fail(const std::string& origin, const std::string& path,
                       const std::string& message) {
  std::string line = origin;
  if (!line.empty()) line += ": ";
  if (!path.empty()) line += path + ": ";
  throw Error(Exit::kUsage, line + message);
}

std::string child(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

// A key of somebody's file as part of a path.
std::string shown_key(const std::string& key) {
  const bool plain =
      !key.empty() && key.size() <= 60 && std::all_of(key.begin(), key.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.';
      });
  return plain ? key : in_quotes(key);
}

// Values under one key may come from several documents.
int newest_layer(const json::Value& value) {
  int layer = value.origin.layer;
  if (const json::Object* object = value.object()) {
    for (const auto& member : *object) layer = std::max(layer, newest_layer(member.second));
  }
  return layer;
}

std::string shown_number(const std::string& text) {
  return text.size() <= 40 ? text : text.substr(0, 40) + "...";
}

std::string found(const json::Value& value) {
  if (value.is_null()) return "null";
  if (const bool* flag = std::get_if<bool>(&value.data)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<json::Number>(&value.data))
    return shown_number(number->text);
  if (const auto* text = std::get_if<std::string>(&value.data))
    return "the text " + in_quotes(*text);
  return value.array() != nullptr ? "a list" : "an object";
}

bool is_name_of(const Field& field, std::string_view word) {
  return field.name == word ||
         std::find(field.aliases.begin(), field.aliases.end(), word) != field.aliases.end();
}

std::string find_below(const Fields& fields, std::string_view word, const std::string& path) {
  for (const Field& field : fields.rows()) {
    std::string here = child(path, field.name);
    if (here == word || is_name_of(field, word)) return here;
    if (!field.section) continue;
    if (std::string inner = find_below(*field.section, word, here); !inner.empty()) return inner;
  }
  return "";
}

void add_words(const Fields& fields, bool deep, std::vector<std::string>& words) {
  for (const Field& field : fields.rows()) {
    words.push_back(field.name);
    words.insert(words.end(), field.aliases.begin(), field.aliases.end());
    if (deep && field.section) add_words(*field.section, deep, words);
  }
}

// Near names of this object by their own name, those of other sections by their path.
std::string unknown_key_message(const Fields& root, const Fields& fields, const std::string& path,
                                const std::string& key) {
  std::string message = "unknown key";
  std::string elsewhere = find_path(root, key);
  if (elsewhere == key && key.find('.') != std::string::npos) {
    return message + "; a file nests its sections: { \"" + key.substr(0, key.find('.')) +
           "\": { ... } }";
  }
  std::vector<std::string> words;
  add_words(fields, false, words);
  std::string near = nearest_name(key, words);
  for (const Field& field : fields.rows()) {
    if (is_name_of(field, near)) near = field.name;  // an alias leads to the name itself
  }
  if (elsewhere == child(path, near)) elsewhere.clear();
  if (near.empty() && elsewhere.empty()) {
    words.clear();
    add_words(root, true, words);
    if (const std::string word = nearest_name(key, words); !word.empty())
      elsewhere = find_path(root, word);
  }
  if (!near.empty()) message += "; did you mean '" + near + "'";
  if (!elsewhere.empty())
    message += (near.empty() ? "; did you mean '" : " or '") + elsewhere + "'";
  if (!near.empty() || !elsewhere.empty()) return message + "?";
  std::vector<std::string> names;
  for (const Field& field : fields.rows()) names.push_back(field.name);
  return message + "; known here: " + join(names);
}

class Reader {
 public:
  Reader(const Fields& root, Applicability applicability)
      : root_(root), applicability_(applicability) {}

  void read_object(const json::Value& value, Fields& fields, const std::string& path) {
    const json::Object* object = value.object();
    if (object == nullptr) {
      fail(value.origin.text(), path, "expected an object { ... }, found " + found(value));
    }
    // `type` decides which of the others apply.
    const json::Value* type = value.find("type");
    if (type != nullptr) read_member("type", *type, fields, path, nullptr);
    for (const auto& [key, member] : *object) {
      if (key != "type") read_member(key, member, fields, path, type);
    }
  }

 private:
  void read_member(const std::string& key, const json::Value& value, Fields& fields,
                   const std::string& path, const json::Value* type) {
    const auto row = std::find_if(fields.rows().begin(), fields.rows().end(),
                                  [&](const Field& field) { return field.name == key; });
    if (row == fields.rows().end()) {
      fail(value.origin.text(), child(path, shown_key(key)),
           unknown_key_message(root_, fields, path, key));
    }
    if (applicability_ == Applicability::kChecked && !fields.applies(*row)) {
      if (value.is_null() || (type != nullptr && type->origin.layer > newest_layer(value))) return;
      refuse(value, fields, *row, path);
    }
    read_field(value, *row, child(path, key));
  }

  [[noreturn]] static void refuse(const json::Value& value, const Fields& fields,
                                  const Field& field, const std::string& path) {
    const Field& type = *fields.find("type");
    fail(value.origin.text(), child(path, field.name),
         "goes with " + child(path, "type") + " " + join(field.only_for, " or ") + ", not with " +
             type.choices[*type.get_choice()].name + "; leave it out or set it to null");
  }

  void read_field(const json::Value& value, Field& field, const std::string& path) {
    switch (field.kind) {
      case Kind::kInteger:
        return field.set_integer(whole(value, field, path));
      case Kind::kReal:
        return field.set_real(real(value, field, path));
      case Kind::kBoolean:
        return field.set_boolean(boolean(value, field, path));
      case Kind::kText:
        return field.set_text(text(value, field, path));
      case Kind::kChoice:
        return field.set_choice(choice(value, field, path));
      case Kind::kReals:
        return field.set_reals(reals(value, field, path));
      case Kind::kTexts:
        return field.set_texts(texts(value, field, path));
      case Kind::kSection:
        return read_section(value, field, path);
      case Kind::kChoiceOrReal:
        if (is_number(value)) return field.set_real(real(value, field, path));
        return field.set_choice(choice(value, field, path));
      case Kind::kIntegerOrSection:
        if (value.object() != nullptr) return read_section(value, field, path);
        return field.set_integer(whole(value, field, path));
    }
  }

  void read_section(const json::Value& value, Field& field, const std::string& path) {
    field.set_present(!value.is_null());
    if (!value.is_null()) read_object(value, *field.section, path);
  }

  static bool is_number(const json::Value& value) {
    return std::holds_alternative<json::Number>(value.data);
  }

  [[noreturn]] static void wrong_type(const json::Value& value, const Field& field,
                                      const std::string& path, const std::string& hint = "") {
    fail(value.origin.text(), path,
         "expected " + value_text(field) + ", found " + found(value) + hint);
  }
  [[noreturn]] static void out_of_range(const json::Value& value, const Field& field,
                                        const std::string& path, const std::string& number) {
    fail(value.origin.text(), path,
         shown_number(number) + " is out of range; expected " + value_text(field));
  }

  static std::optional<std::uint64_t> whole(const json::Value& value, const Field& field,
                                            const std::string& path) {
    if (value.is_null()) return std::nullopt;
    const auto* number = std::get_if<json::Number>(&value.data);
    if (number == nullptr) wrong_type(value, field, path);
    const WholeRead read = read_whole(number->text);
    if (read.status == WholeStatus::kNotWhole) {
      fail(value.origin.text(), path,
           shown_number(number->text) + " is not whole; expected " + value_text(field));
    }
    const IntegerRange& range = field.integer_range;
    if (read.status != WholeStatus::kOk || read.value < range.low || read.value > range.high) {
      out_of_range(value, field, path, number->text);
    }
    return read.value;
  }

  // `value` may be an entry of the field's list.
  static double number_in_range(const json::Value& value, const Field& field,
                                const std::string& path) {
    const auto* number = std::get_if<json::Number>(&value.data);
    if (number == nullptr) wrong_type(value, field, path);
    const RealRead read = read_real(number->text);
    const RealRange& range = field.real_range;
    const bool low = range.low_open ? read.value > range.low : read.value >= range.low;
    const bool high = range.high_open ? read.value < range.high : read.value <= range.high;
    if (read.status != RealStatus::kOk || !low || !high)
      out_of_range(value, field, path, number->text);
    return read.value;
  }

  static std::optional<double> real(const json::Value& value, const Field& field,
                                    const std::string& path) {
    if (value.is_null()) return std::nullopt;
    return number_in_range(value, field, path);
  }

  static std::optional<bool> boolean(const json::Value& value, const Field& field,
                                     const std::string& path) {
    if (value.is_null()) return std::nullopt;
    if (const bool* flag = std::get_if<bool>(&value.data)) return *flag;
    const auto* word = std::get_if<std::string>(&value.data);
    const std::array<std::string, 2> names{"true", "false"};
    wrong_type(value, field, path, word == nullptr ? "" : did_you_mean(*word, names));
  }

  static std::optional<std::string> text(const json::Value& value, const Field& field,
                                         const std::string& path) {
    if (value.is_null()) return std::nullopt;
    const auto* given = std::get_if<std::string>(&value.data);
    if (given == nullptr) wrong_type(value, field, path);
    return *given;
  }

  static std::optional<std::size_t> choice(const json::Value& value, const Field& field,
                                           const std::string& path) {
    if (value.is_null()) return std::nullopt;
    const auto* name = std::get_if<std::string>(&value.data);
    if (name == nullptr) wrong_type(value, field, path);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < field.choices.size(); ++i) {
      if (field.choices[i].name == *name) return i;
      names.push_back(field.choices[i].name);
    }
    fail(value.origin.text(), path,
         "unknown name " + in_quotes(*name) + "; expected " + value_text(field) +
             did_you_mean(*name, names));
  }

  static std::optional<std::vector<double>> reals(const json::Value& value, const Field& field,
                                                  const std::string& path) {
    if (value.is_null()) return std::nullopt;
    const json::Array* list = value.array();
    if (list == nullptr) wrong_type(value, field, path);
    if (field.exact_length != 0 && list->size() != field.exact_length) {
      fail(
          value.origin.text(), path,
          "expected " + value_text(field) + ", found " + std::to_string(list->size()) + " entries");
    }
    std::vector<double> numbers;
    for (const json::Value& entry : *list) numbers.push_back(number_in_range(entry, field, path));
    return numbers;
  }

  static std::optional<std::vector<std::string>> texts(const json::Value& value, const Field& field,
                                                       const std::string& path) {
    if (value.is_null()) return std::nullopt;
    const json::Array* list = value.array();
    if (list == nullptr) wrong_type(value, field, path, "; write [\"...\"]");
    std::vector<std::string> words;
    for (const json::Value& entry : *list) {
      const auto* word = std::get_if<std::string>(&entry.data);
      if (word == nullptr) wrong_type(entry, field, path, " in the list");
      words.push_back(*word);
    }
    return words;
  }

  const Fields& root_;
  Applicability applicability_;
};

}  // namespace

void read_fields(const json::Value& value, Fields& fields, Applicability applicability) {
  Reader(fields, applicability).read_object(value, fields, "");
}

std::string find_path(const Fields& fields, std::string_view word) {
  return find_below(fields, word, "");
}

const Fields::Field& field_at(const Fields& fields, std::string_view path,
                              const std::string& origin) {
  const Fields* level = &fields;
  std::string done;
  for (;;) {
    const std::size_t dot = path.find('.');
    const std::string key(path.substr(0, dot));
    const Field* field = level->find(key);
    if (field == nullptr) {
      fail(origin, child(done, shown_key(key)), unknown_key_message(fields, *level, done, key));
    }
    done = child(done, key);
    if (dot == std::string_view::npos) return *field;
    path.remove_prefix(dot + 1);
    if (!field->section) {
      const bool list = field->kind == Kind::kReals || field->kind == Kind::kTexts;
      fail(origin, done + "." + shown_key(std::string(path)),
           "unknown key; " + done + " takes " + value_text(*field) +
               (list ? ", set as a whole" : ""));
    }
    level = field->section.get();
  }
}

}  // namespace headroom
