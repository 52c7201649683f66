#include "core/json.h"

#include <cstring>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "core/error.h"
#include "core/file.h"
#include "core/json_syntax.h"
#include "core/spelling.h"

namespace headroom::json {
namespace {

// How far the parser has read. The previous line is that of the last character but one: the parser
// reads one character beyond a number, which may be the newline.
struct Progress {
  std::size_t line = 1, previous_line = 1;
};

class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Progress* progress) : at_(at), progress_(progress) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    progress_->previous_line = progress_->line;
    if (*at_ == '\n') ++progress_->line;
    ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  Progress* progress_;
};

// Builds the tree from the parser's events; false from an event stops the parser at once.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(std::string_view document, std::shared_ptr<const std::string> source,
          const Progress& progress)
      : document_(document), source_(std::move(source)), progress_(progress) {}

  bool null() override { return put(Value(nullptr, here())); }
  bool boolean(bool value) override { return put(Value(value, here())); }
  bool number_integer(std::int64_t value) override { return put_number(std::to_string(value)); }
  bool number_unsigned(std::uint64_t value) override { return put_number(std::to_string(value)); }
  bool number_float(double, const std::string& text) override {
    std::string plain = text;  // holds the locale's decimal point
    for (char& c : plain) {
      if (std::strchr("0123456789+-eE.", c) == nullptr) c = '.';
    }
    return put_number(std::move(plain));
  }
  bool string(std::string& value) override { return put(Value(std::move(value), here())); }
  bool binary(nlohmann::json::binary_t&) override { return false; }  // never in JSON text
  bool start_object(std::size_t) override { return open(Value(Object{}, here())); }
  bool start_array(std::size_t) override { return open(Value(Array{}, here())); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    Frame& frame = frames_.back();
    const auto [first, fresh] = frame.key_lines.emplace(name, progress_.line);
    if (!fresh) {
      return fail(progress_.line, "key " + in_quotes(name) +
                                      " a second time in this object; the first is at line " +
                                      std::to_string(first->second));
    }
    frame.key = std::move(name);
    frame.key_line = progress_.line;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::json::exception& error) override {
    Context context;
    if (!frames_.empty()) {
      context.bracket = frames_.back().value.array() != nullptr ? '[' : '{';
      context.bracket_line = frames_.back().value.origin.line;
    }
    context.finished = root_.has_value();
    const Syntax syntax = explain(document_, position, token, error.what(), context);
    error_ = *source_ + ":" + std::to_string(syntax.line) + ":" + std::to_string(syntax.column) +
             ": " + syntax.message;
    return false;
  }

  const std::string& error() const { return error_; }
  Value take() { return std::move(*root_); }

 private:
  struct Frame {
    Value value;
    std::string key;  // of the member being read
    std::size_t key_line = 0;
    std::unordered_map<std::string, std::size_t> key_lines;
  };

  Origin here() const { return {source_, progress_.line}; }

  bool fail(std::size_t line, const std::string& message) {
    error_ = *source_ + ":" + std::to_string(line) + ": " + message;
    return false;
  }

  bool put_number(std::string text) {
    return put(Value(Number{std::move(text)}, {source_, progress_.previous_line}));
  }

  bool put(Value value) {
    if (++n_values_ > kMaxValues) {
      return fail(value.origin.line, "more than " + std::to_string(kMaxValues) + " values");
    }
    if (frames_.empty()) {
      root_ = std::move(value);
      return true;
    }
    Frame& frame = frames_.back();
    if (Object* object = frame.value.object()) {
      value.origin.line = frame.key_line;
      object->emplace_back(std::move(frame.key), std::move(value));
    } else {
      std::get<Array>(frame.value.data).push_back(std::move(value));
    }
    return true;
  }

  bool open(Value value) {
    if (frames_.size() == static_cast<std::size_t>(kMaxDepth)) {
      return fail(progress_.line, "nested deeper than " + std::to_string(kMaxDepth) + " levels");
    }
    frames_.push_back({std::move(value), {}, 0, {}});
    return true;
  }

  bool close() {
    Value value = std::move(frames_.back().value);
    frames_.pop_back();
    return put(std::move(value));
  }

  std::string_view document_;
  std::shared_ptr<const std::string> source_;
  const Progress& progress_;
  std::vector<Frame> frames_;
  std::optional<Value> root_;
  std::size_t n_values_ = 0;
  std::string error_;
};

[[noreturn]] void too_large(const std::string& source) {
  throw Error(Exit::kUsage, source + ": larger than " + std::to_string(kMaxBytes >> 20) +
                                " MB, the most a config may have");
}

}  // namespace

Value parse(std::string_view document, const std::string& source) {
  if (document.size() > kMaxBytes) too_large(source);
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (document.starts_with(kByteOrderMark)) document.remove_prefix(kByteOrderMark.size());
  // The parser would take a NUL for the end and ignore the rest.
  if (const std::size_t at = document.find('\0'); at != std::string_view::npos) {
    const Place place = locate(document, at);
    throw Error(Exit::kUsage, source + ":" + std::to_string(place.line) + ":" +
                                  std::to_string(place.column) +
                                  ": a NUL byte; a config is UTF-8 text");
  }
  Progress progress;
  Builder builder(document, std::make_shared<const std::string>(source), progress);
  const char* begin = document.data();
  const bool good = nlohmann::json::sax_parse(
      CountingIterator(begin, &progress), CountingIterator(begin + document.size(), &progress),
      &builder, nlohmann::json::input_format_t::json, true, true);
  if (!good) throw Error(Exit::kUsage, builder.error());
  return builder.take();
}

Value parse_file(const std::string& path) {
  std::error_code ignored;
  const bool regular = std::filesystem::is_regular_file(path, ignored);
  if (regular && std::filesystem::file_size(path, ignored) > kMaxBytes) too_large(path);
  return parse(read_file(path, kMaxBytes), path);
}

}  // namespace headroom::json
