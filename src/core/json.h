// JSON as the config files speak it: comments allowed, duplicate keys refused, every value knows
// where it came from. nlohmann/json does the reading (by SAX) and stays behind json.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace headroom::json {

inline constexpr std::size_t kMaxBytes = 16u << 20;
inline constexpr int kMaxDepth = 64;
inline constexpr std::size_t kMaxValues = 1'000'000;  // in one document

// Where a value was written: "file.json:12", "--set", or nothing.
struct Origin {
  std::shared_ptr<const std::string> source;  // file name or "--set"
  std::size_t line = 0;                       // from 1; 0 = no line. A member's is that of its key
  int layer = 0;             // which of several merged documents, the later the higher
  std::string text() const;  // "configs/a.json:12"; "" without a source
};

// A number keeps its own text, so that 1e3 is an integer, 1.5 is not, and 2^64 is never wrapped.
struct Number {
  std::string text;
};

class Value;
using Array = std::vector<Value>;
using Member = std::pair<std::string, Value>;
using Object = std::vector<Member>;  // in file order

class Value {
 public:
  using Data = std::variant<std::nullptr_t, bool, Number, std::string, Array, Object>;
  Value() = default;
  Value(Data data_in, Origin origin_in = {})
      : data(std::move(data_in)), origin(std::move(origin_in)) {}

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(data); }
  const Array* array() const { return std::get_if<Array>(&data); }
  const Object* object() const { return std::get_if<Object>(&data); }
  Object* object() { return std::get_if<Object>(&data); }
  const Value* find(std::string_view key) const;  // member of an object, or nullptr

  Data data = nullptr;
  Origin origin;
};

// Values to build output from. JSON has no nan and inf: they become the texts "nan", "inf", "-inf".
Value number(double value);
Value number(std::uint64_t value);
Value boolean(bool value);
Value text(std::string value);
// A new last member of an object; a default-made (null) value becomes one.
void add(Value& object, std::string key, Value value);

// Parses one document: JSON with // and /* */ comments, a byte order mark and CRLF line ends
// accepted; duplicate keys, more than kMaxDepth levels, kMaxValues values or kMaxBytes bytes, NUL
// bytes and malformed UTF-8 refused. Throws Error(Exit::kUsage), one line that begins
// "source:line:column: ". `source` names the text.
Value parse(std::string_view document, const std::string& source);
// The same for a file (or a pipe). A folder, or a file that is missing or cannot be read, is
// Error(Exit::kFile) with the path; one over kMaxBytes is Error(Exit::kUsage), before it is read.
Value parse_file(const std::string& path);

// JSON text, always UTF-8 (malformed bytes of a text become U+FFFD): `indent` spaces a level and
// arrays of plain values on one line; 0 = everything on one
// line without spaces. No final newline.
std::string write(const Value& value, int indent = 2);

// `over` on `base`: objects merge member by member, anything else replaces.
void merge(Value& base, const Value& over);
// Objects within objects that hold `value` at a dotted path: { "a": { "b": value } } for "a.b".
// Each has the origin of the value.
Value nested(std::string_view path, Value value);
// Marks every value of the tree as coming from this layer.
void set_layer(Value& value, int layer);

}  // namespace headroom::json
