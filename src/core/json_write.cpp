#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/json.h"
#include "core/numbers.h"
#include "core/spelling.h"

namespace headroom::json {
namespace {

// What is no UTF-8, as a file name may be, becomes U+FFFD: JSON has no other way.
void write_text(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    char32_t unused = 0;
    const std::size_t n = utf8_length(text, unused);
    const std::string_view character = text.substr(0, std::max<std::size_t>(n, 1));
    text.remove_prefix(character.size());
    const char c = character.front();
    const auto byte = static_cast<unsigned char>(c);
    if (n == 0) {
      out += "\uFFFD";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(byte));
      out += escape;
    } else {
      out += character;
    }
  }
  out += '"';
}

bool is_plain(const Value& value) { return value.array() == nullptr && value.object() == nullptr; }

class Writer {
 public:
  explicit Writer(int indent) : indent_(indent) {}

  void write(const Value& value, int level) {
    if (value.is_null()) {
      out += "null";
    } else if (const bool* flag = std::get_if<bool>(&value.data)) {
      out += *flag ? "true" : "false";
    } else if (const Number* number = std::get_if<Number>(&value.data)) {
      out += number->text;
    } else if (const std::string* text = std::get_if<std::string>(&value.data)) {
      write_text(out, *text);
    } else if (const Array* array = value.array()) {
      const bool one_line = indent_ == 0 || std::all_of(array->begin(), array->end(), is_plain);
      write_list('[', ']', array->size(), level, one_line,
                 [&](std::size_t i) { write((*array)[i], level + 1); });
    } else {
      const Object& object = *value.object();
      write_list('{', '}', object.size(), level, indent_ == 0, [&](std::size_t i) {
        write_text(out, object[i].first);
        out += indent_ == 0 ? ":" : ": ";
        write(object[i].second, level + 1);
      });
    }
  }

  std::string out;

 private:
  template <class Entry>
  void write_list(char open, char close, std::size_t n, int level, bool one_line,
                  const Entry& entry) {
    out += open;
    for (std::size_t i = 0; i < n; ++i) {
      if (i > 0) out += ',';
      if (!one_line) new_line(level + 1);
      if (one_line && i > 0 && indent_ > 0) out += ' ';
      entry(i);
    }
    if (!one_line && n > 0) new_line(level);
    out += close;
  }

  void new_line(int level) {
    out += '\n';
    out.append(static_cast<std::size_t>(level) * static_cast<std::size_t>(indent_), ' ');
  }

  int indent_;
};

}  // namespace

std::string Origin::text() const {
  if (!source) return "";
  return line == 0 ? *source : *source + ":" + std::to_string(line);
}

const Value* Value::find(std::string_view key) const {
  if (const Object* members = object()) {
    for (const auto& [name, value] : *members) {
      if (name == key) return &value;
    }
  }
  return nullptr;
}

Value number(double value) {
  if (!std::isfinite(value)) return Value(real_text(value));
  return Value(Number{real_text(value)});
}
Value number(std::uint64_t value) { return Value(Number{std::to_string(value)}); }
Value boolean(bool value) {
  Value result;
  result.data = value;
  return result;
}
Value text(std::string value) { return Value(std::move(value)); }

void add(Value& object, std::string key, Value value) {
  if (object.is_null()) object.data = Object{};
  object.object()->emplace_back(std::move(key), std::move(value));
}

std::string write(const Value& value, int indent) {
  Writer writer(indent);
  writer.write(value, 0);
  return std::move(writer.out);
}

void merge(Value& base, const Value& over) {
  Object* into = base.object();
  const Object* from = over.object();
  if (into == nullptr || from == nullptr) {
    base = over;
    return;
  }
  for (const Member& member : *from) {
    const auto same = std::find_if(into->begin(), into->end(),
                                   [&](const Member& m) { return m.first == member.first; });
    if (same == into->end()) {
      into->push_back(member);
    } else {
      merge(same->second, member.second);
    }
  }
}

Value nested(std::string_view path, Value value) {
  // From the last part of the path outwards.
  while (!path.empty()) {
    const std::size_t dot = path.rfind('.');
    const std::string name(dot == std::string_view::npos ? path : path.substr(dot + 1));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
    const Origin origin = value.origin;
    Object object;
    object.emplace_back(name, std::move(value));
    value = Value(std::move(object), origin);
  }
  return value;
}

void set_layer(Value& value, int layer) {
  value.origin.layer = layer;
  if (auto* array = std::get_if<Array>(&value.data)) {
    for (Value& entry : *array) set_layer(entry, layer);
  } else if (Object* object = value.object()) {
    for (auto& member : *object) set_layer(member.second, layer);
  }
}

}  // namespace headroom::json
