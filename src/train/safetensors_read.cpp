#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstring>
#include <optional>

#include "core/error.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/json.h"
#include "core/spelling.h"
#include "train/safetensors.h"
#include "train/safetensors_format.h"

namespace headroom::safetensors {
namespace {

// Digits only, without sign, point or exponent, and below 2^64.
std::optional<std::uint64_t> whole_number(const json::Value& value) {
  const auto* const number = std::get_if<json::Number>(&value.data);
  if (number == nullptr) return std::nullopt;
  const char* const end = number->text.data() + number->text.size();
  std::uint64_t n = 0;
  const auto [stop, problem] = std::from_chars(number->text.data(), end, n);
  if (problem != std::errc() || stop != end) return std::nullopt;
  return n;
}

std::optional<std::vector<std::uint64_t>> whole_numbers(const json::Value* value,
                                                        std::size_t most) {
  const json::Array* const array = value == nullptr ? nullptr : value->array();
  if (array == nullptr || array->size() > most) return std::nullopt;
  std::vector<std::uint64_t> numbers;
  for (const json::Value& entry : *array) {
    const std::optional<std::uint64_t> n = whole_number(entry);
    if (!n) return std::nullopt;
    numbers.push_back(*n);
  }
  return numbers;
}

std::optional<std::uint64_t> product(std::span<const std::uint64_t> factors, std::uint64_t start) {
  std::uint64_t n = start;
  for (const std::uint64_t f : factors) {
    if (f != 0 && n > UINT64_MAX / f) return std::nullopt;
    n *= f;
  }
  return n;
}

}  // namespace

Archive::Archive(const std::filesystem::path& path, std::uint64_t max_bytes)
    : Archive(read_file(path, max_bytes), path) {}

Archive::Archive(std::string content_in, std::filesystem::path path)
    : path_(std::move(path)), content_(std::make_shared<const std::string>(std::move(content_in))) {
  const std::string_view content = *content_;
  std::uint64_t length = 0;
  if (content.size() < kLengthBytes) fail("shorter than the 8 bytes of the header's length");
  std::memcpy(&length, content.data(), kLengthBytes);
  if (length > json::kMaxBytes) {
    fail("claims a header of " + std::to_string(length) + " bytes, the limit is " +
         std::to_string(json::kMaxBytes));
  }
  if (length > content.size() - kLengthBytes) {
    fail("ends inside its header (" + std::to_string(content.size()) + " bytes)");
  }
  const std::size_t data_at = kLengthBytes + static_cast<std::size_t>(length);
  const std::string_view data = content.substr(data_at);
  read_header(content.substr(kLengthBytes, data_at - kLengthBytes), data);
  check_sums(content.substr(0, data_at), data);
  check_layout(data);
}

void Archive::fail(const std::string& what) const {
  throw Error(Exit::kCorrupt, path_.string() + ": not a sound safetensors file: " + what);
}

void Archive::read_header(std::string_view header, std::string_view data) {
  if (header.empty() || header.front() != '{') fail("its header does not begin with {");
  json::Value root;
  try {
    root = json::parse(header, "header");
  } catch (const Error& error) {
    fail(error.what());
  }
  if (root.object() == nullptr) fail("its header is no JSON object");
  for (const auto& [name, value] : *root.object()) {
    const json::Object* const entry = value.object();
    if (entry == nullptr) fail(in_quotes(name) + " is no JSON object");
    if (name == kMetadataKey) {
      for (const auto& [key, text] : *entry) {
        const auto* const string = std::get_if<std::string>(&text.data);
        if (string == nullptr) fail("metadata " + in_quotes(key) + " is no string");
        metadata_.emplace_back(key, *string);
      }
      continue;
    }
    const json::Value* const type = value.find("dtype");
    const auto* const type_text = type == nullptr ? nullptr : std::get_if<std::string>(&type->data);
    const auto shape = whole_numbers(value.find("shape"), kMaxDimensions);
    const auto offsets = whole_numbers(value.find("data_offsets"), 2);
    if (type_text == nullptr || !shape || !offsets || offsets->size() != 2 || entry->size() != 3) {
      fail("tensor " + in_quotes(name) +
           " must have dtype, shape (at most 8 sizes) and data_offsets");
    }
    if (*type_text != "F32" && *type_text != "F64") {
      fail("tensor " + in_quotes(name) + " has dtype " + in_quotes(*type_text) +
           ", only F32 and F64 are read");
    }
    Tensor t{name, *type_text == "F32" ? Type::kF32 : Type::kF64, {}, {}};
    const std::uint64_t begin = (*offsets)[0], end = (*offsets)[1];
    if (begin > end || end > data.size()) {
      fail("tensor " + in_quotes(name) + " reaches from byte " + std::to_string(begin) + " to " +
           std::to_string(end) + " of " + std::to_string(data.size()));
    }
    const auto bytes = product(*shape, type_bytes(t.type));
    if (!bytes || *bytes != end - begin) {
      fail("the shape of tensor " + in_quotes(name) + " does not fit its " +
           std::to_string(end - begin) + " bytes");
    }
    t.shape.assign(shape->begin(), shape->end());
    t.bytes = data.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    tensors_.push_back(std::move(t));
  }
}

void Archive::check_layout(std::string_view data) {
  std::stable_sort(tensors_.begin(), tensors_.end(), [](const Tensor& a, const Tensor& b) {
    return std::pair(a.bytes.data(), a.bytes.size()) < std::pair(b.bytes.data(), b.bytes.size());
  });
  const char* at = data.data();
  for (const Tensor& t : tensors_) {
    if (t.bytes.data() != at)
      fail("tensor " + in_quotes(t.name) + " overlaps another or leaves a gap");
    at += t.bytes.size();
  }
  if (at != data.data() + data.size()) {
    fail(std::to_string(data.data() + data.size() - at) + " bytes follow the last tensor");
  }
}

void Archive::check_sums(std::string_view head, std::string_view data) {
  const std::string* const data_sum = metadata(kDataSum);
  const std::string* const header_sum = metadata(kHeaderSum);
  if (data_sum == nullptr && header_sum == nullptr) return;
  if (data_sum == nullptr || header_sum == nullptr) fail("one of its two checksums is missing");
  const std::size_t at = find_header_sum(head, *header_sum);
  if (at == std::string_view::npos || header_sum->size() != kNoSum.size()) {
    fail("its header's checksum is unreadable");
  }
  std::string zeroed(head);
  zeroed.replace(at, kNoSum.size(), kNoSum);
  if (sum_text(hash64(zeroed)) != *header_sum) fail("the checksum of its header does not match");
  if (sum_text(hash64(data)) != *data_sum) fail("the checksum of its data does not match");
  has_checksums_ = true;
}

const Tensor* Archive::find(std::string_view name) const {
  const auto at = std::find_if(tensors_.begin(), tensors_.end(),
                               [&](const Tensor& t) { return t.name == name; });
  return at == tensors_.end() ? nullptr : &*at;
}

const std::string* Archive::metadata(std::string_view key) const {
  for (const auto& [name, value] : metadata_) {
    if (name == key) return &value;
  }
  return nullptr;
}

template <class S>
void copy_values(const Tensor& tensor, std::span<S> out) {
  assert(out.size() == tensor.size());
  const char* from = tensor.bytes.data();
  for (S& value : out) {
    if (tensor.type == Type::kF32) {
      float x;
      std::memcpy(&x, from, sizeof x);
      value = static_cast<S>(x);
      from += sizeof x;
    } else {
      double x;
      std::memcpy(&x, from, sizeof x);
      value = static_cast<S>(x);
      from += sizeof x;
    }
  }
}

template void copy_values<float>(const Tensor&, std::span<float>);
template void copy_values<double>(const Tensor&, std::span<double>);

}  // namespace headroom::safetensors
