#include "config/read.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "config/compare.h"
#include "core/error.h"
#include "core/json.h"
#include "core/spelling.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxDocuments = 64;  // a list of lists of files could name 2^60 of them

// Each document must be right by itself, whatever is merged over it.
void check_document(const json::Value& document) {
  RunConfig scratch;
  Fields fields;
  scratch.declare(fields);
  read_fields(document, fields, Applicability::kIgnored);
}

// The member "extends", taken out of the document.
std::vector<std::string> take_extends(json::Value& document) {
  json::Object* object = document.object();
  if (object == nullptr) return {};
  const auto member = std::find_if(object->begin(), object->end(),
                                   [](const auto& m) { return m.first == "extends"; });
  if (member == object->end()) return {};
  const json::Value value = std::move(member->second);
  object->erase(member);
  const auto path_of = [&](const json::Value& entry) {
    const auto* path = std::get_if<std::string>(&entry.data);
    if (path == nullptr || path->empty()) {
      refuse(value.origin.text() + ": extends: expected a path or a list of paths");
    }
    if (has_control_character(*path)) {
      refuse(value.origin.text() + ": extends: " + in_quotes(*path) + " has a control character");
    }
    return *path;
  };
  if (value.is_null()) return {};
  if (value.array() == nullptr) return {path_of(value)};
  std::vector<std::string> paths;
  for (const json::Value& entry : *value.array()) paths.push_back(path_of(entry));
  return paths;
}

class Loader {
 public:
  json::Value load_file(const std::string& path, const std::string& extended_by) {
    std::error_code error_code;  // a pipe has no canonical path
    fs::path identity = fs::weakly_canonical(path, error_code);
    if (error_code) identity = path;
    if (std::find(open_.begin(), open_.end(), identity) != open_.end()) {
      refuse(extended_by + ": extends: " + path + " extends itself" +
             (open_.back() == identity ? "" : ", through other files"));
    }
    json::Value document;
    try {
      document = json::parse_file(path);
    } catch (const Error& error) {
      if (extended_by.empty() || error.code() != Exit::kFile) throw;
      throw Error(error.code(), error.what() + (" (extended by " + extended_by + ")"));
    }
    open_.push_back(identity);
    json::Value merged = load(std::move(document), path);
    open_.pop_back();
    return merged;
  }

  json::Value load(json::Value document, const std::string& source) {
    if (++n_documents_ > kMaxDocuments) {
      refuse(source + ": extends: more than " + std::to_string(kMaxDocuments) + " files");
    }
    const std::vector<std::string> bases = take_extends(document);
    json::Value merged(json::Object{}, document.origin);
    for (const std::string& base : bases) {
      json::merge(merged, load_file((fs::path(source).parent_path() / base).string(), source));
    }
    check_document(document);
    json::set_layer(document, ++layer_);
    json::merge(merged, document);
    return merged;
  }

  int layer() const { return layer_; }

 private:
  std::vector<fs::path> open_;
  std::size_t n_documents_ = 0;
  int layer_ = 0;
};

// VALUE as the field takes it: text as it stands for texts and names, else JSON and, where it is
// none, text.
json::Value set_value(const Fields::Field& field, const std::string& value,
                      const json::Origin& origin, const std::string& key) {
  using Kind = Fields::Kind;
  const bool wants_text = field.kind == Kind::kText || field.kind == Kind::kChoice;
  json::Value parsed;
  try {
    parsed = json::parse(value, "--set");
  } catch (const Error& error) {
    const bool meant_json = !value.empty() && (value.front() == '{' || value.front() == '[');
    if (meant_json && !wants_text) {
      const std::string why = error.what();  // "--set:LINE:COLUMN: ..."
      refuse("--set: " + key + ": " + in_quotes(value) +
             " is no JSON: " + why.substr(why.find(": ") + 2));
    }
    return json::Value(value, origin);
  }
  if (wants_text && !parsed.is_null() && !std::holds_alternative<std::string>(parsed.data)) {
    return json::Value(value, origin);
  }
  parsed.origin = origin;
  return parsed;
}

json::Value set_document(const std::string& item, const Fields& fields) {
  const std::size_t equals = item.find('=');
  if (equals == std::string::npos || equals == 0) {
    refuse("--set: expected KEY=VALUE, as in --set train.steps=1000, found " + in_quotes(item));
  }
  const std::string key = item.substr(0, equals), value = item.substr(equals + 1);
  if (!is_utf8(value)) refuse("--set: " + in_quotes(key) + ": the value is not valid UTF-8");
  const json::Origin origin{std::make_shared<const std::string>("--set"), 0, 0};
  return json::nested(key, set_value(field_at(fields, key, "--set"), value, origin, key));
}

// The place of the first key that a message names and the document holds; else the document's.
std::string place_of(const json::Value& document, const std::string& message,
                     const std::string& source) {
  const auto is_key_character = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  for (std::size_t i = 0; i < message.size();) {
    std::size_t end = i;
    while (end < message.size() && is_key_character(message[end])) ++end;
    const json::Value* at = value_at(document, std::string_view(message).substr(i, end - i));
    if (end > i && at != nullptr && at->object() == nullptr && !at->origin.text().empty())
      return at->origin.text();
    i = end + 1;
  }
  return source;
}

RunConfig finish(json::Value document, int layer, std::span<const std::string> sets,
                 const std::string& source) {
  RunConfig config;
  Fields fields;
  config.declare(fields);
  for (const std::string& item : sets) {
    json::Value over = set_document(item, fields);
    check_document(over);
    json::set_layer(over, layer + 1);
    json::merge(document, over);
  }
  read_fields(document, fields);
  try {
    validate(config);
  } catch (const Error& error) {
    throw Error(error.code(), place_of(document, error.what(), source) + ": " + error.what());
  }
  return config;
}

}  // namespace

RunConfig read_run_config(const std::string& path, std::span<const std::string> sets) {
  Loader loader;
  json::Value document = loader.load_file(path, "");
  return finish(std::move(document), loader.layer(), sets, path);
}

RunConfig read_run_config_text(std::string_view text, std::span<const std::string> sets,
                               const std::string& source) {
  return read_run_config_value(json::parse(text, source), sets, source);
}

RunConfig read_run_config_value(json::Value document, std::span<const std::string> sets,
                                const std::string& source) {
  Loader loader;
  json::Value merged = loader.load(std::move(document), source);
  return finish(std::move(merged), loader.layer(), sets, source);
}

void read_settings(Fields& fields, std::span<const std::string> sets) {
  json::Value document(json::Object{});
  for (const std::string& item : sets) json::merge(document, set_document(item, fields));
  read_fields(document, fields);
}

}  // namespace headroom
