#include <cassert>
#include <cstring>

#include "core/error.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/json.h"
#include "train/safetensors.h"
#include "train/safetensors_format.h"

namespace headroom::safetensors {
namespace {

std::string data_sum(std::span<const Tensor> tensors) {
  Hash64 hash;
  for (const Tensor& t : tensors) hash.add(t.bytes);
  return sum_text(hash.digest());
}

json::Value whole_number(std::size_t value) {
  return json::number(static_cast<std::uint64_t>(value));
}

}  // namespace

const char* type_name(Type type) { return type == Type::kF32 ? "F32" : "F64"; }
std::size_t type_bytes(Type type) { return type == Type::kF32 ? 4 : 8; }

void write(const std::filesystem::path& path, std::span<const Tensor> tensors,
           const Metadata& metadata) {
  json::Object texts;
  for (const auto& [key, value] : metadata) texts.emplace_back(key, json::text(value));
  texts.emplace_back(kDataSum, json::text(data_sum(tensors)));
  texts.emplace_back(kHeaderSum, json::text(std::string(kNoSum)));

  json::Object header;
  header.emplace_back(kMetadataKey, json::Value(std::move(texts)));
  std::size_t offset = 0;
  for (const Tensor& t : tensors) {
    json::Array shape;
    [[maybe_unused]] std::size_t size = 1;
    for (const std::size_t d : t.shape) {
      shape.push_back(whole_number(d));
      size *= d;
    }
    assert(size * type_bytes(t.type) == t.bytes.size());
    json::Array offsets{whole_number(offset), whole_number(offset + t.bytes.size())};
    offset += t.bytes.size();
    json::Object entry;
    entry.emplace_back("dtype", json::text(type_name(t.type)));
    entry.emplace_back("shape", json::Value(std::move(shape)));
    entry.emplace_back("data_offsets", json::Value(std::move(offsets)));
    header.emplace_back(t.name, json::Value(std::move(entry)));
  }

  std::string head(kLengthBytes, '\0');
  head += json::write(json::Value(std::move(header)), 0);
  head.resize((head.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const std::uint64_t length = head.size() - kLengthBytes;
  if (length > json::kMaxBytes || tensors.size() > kMostTensors)
    refuse(path.string() + ": " + std::to_string(tensors.size()) +
           " tensors are more than a safetensors header may list");
  std::memcpy(head.data(), &length, kLengthBytes);
  const std::size_t at = find_header_sum(head, kNoSum);
  assert(at != std::string::npos);
  head.replace(at, kNoSum.size(), sum_text(hash64(head)));

  std::vector<std::string_view> parts{head};
  for (const Tensor& t : tensors) parts.push_back(t.bytes);
  write_file_atomically(path, std::span<const std::string_view>(parts));
}

}  // namespace headroom::safetensors
