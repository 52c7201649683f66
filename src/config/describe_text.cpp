#include <algorithm>

#include "config/describe_format.h"
#include "core/spelling.h"

namespace headroom {
namespace {

using Field = Fields::Field;

bool goes_with(const Field& field, const std::string& type) {
  if (type.empty()) return true;
  if (field.name == "type") return false;
  return field.only_for.empty() ||
         std::find(field.only_for.begin(), field.only_for.end(), type) != field.only_for.end();
}

std::string path_of(const std::string& path, const Field& field) {
  return path.empty() ? field.name : path + "." + field.name;
}

std::string default_text(const Field& field) { return json::write(field_value(field), 0); }

bool has_value(const Field& field) {
  return field.kind != Fields::Kind::kSection || field.nullable;
}

// "Only with train.optimizer.type sgd."
std::string condition(const Field& field, const std::string& path) {
  if (field.only_for.empty()) return "";
  return "Only with " + (path.empty() ? "type" : path + ".type") + " " +
         join(field.only_for, " or ") + ".";
}

std::size_t longest_name(const Field& field) {
  std::size_t longest = 0;
  for (const auto& choice : field.choices) longest = std::max(longest, choice.name.size());
  return longest;
}

void text_of(std::string& out, const Field& field, const std::string& path, bool conditions) {
  const std::string here = path_of(path, field);
  out += here + " = " + default_text(field) + "   (" + value_text(field) + ")\n";
  out += "    " + field.sentence + "\n";
  const std::size_t width = longest_name(field);
  for (const auto& choice : field.choices) {
    out += "      " + choice.name + std::string(width - choice.name.size() + 2, ' ') +
           choice.sentence + "\n";
  }
  if (conditions && !field.only_for.empty()) out += "    " + condition(field, path) + "\n";
}

void markdown_of(std::string& out, const Field& field, const std::string& path, bool conditions) {
  std::string meaning = markdown_cell(field.sentence);
  for (const auto& choice : field.choices) {
    meaning += "<br>`" + choice.name + "`: " + markdown_cell(choice.sentence);
  }
  if (conditions && !field.only_for.empty())
    meaning += "<br>" + markdown_cell(condition(field, path));
  out += "| `" + path_of(path, field) + "` | `" + default_text(field) + "` | " +
         markdown_cell(value_text(field)) + " | " + meaning + " |\n";
}

// Calls row(field, path) for every field with a value, in order.
template <class Row>
void walk(const Fields& fields, const std::string& path, const std::string& type, const Row& row) {
  for (const Field& field : fields.rows()) {
    if (!goes_with(field, type)) continue;
    if (has_value(field)) row(field, path);
    if (field.section) walk(*field.section, path_of(path, field), "", row);
  }
}

}  // namespace

std::string markdown_cell(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '|' || c == '<' || c == '*' || c == '_') out += '\\';
    out += c;
  }
  return out;
}

std::string fields_as_text(const Fields& fields, const std::string& path, const std::string& type) {
  std::string out;
  walk(fields, path, type, [&](const Field& field, const std::string& at) {
    text_of(out, field, at, type.empty() || at != path);
  });
  return out;
}

std::string fields_as_markdown(const Fields& fields, const std::string& path,
                               const std::string& type) {
  std::string out = "| field | default | takes | meaning |\n|---|---|---|---|\n";
  walk(fields, path, type, [&](const Field& field, const std::string& at) {
    markdown_of(out, field, at, type.empty() || at != path);
  });
  return out;
}

}  // namespace headroom
