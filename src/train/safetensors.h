// Named tensors in one file, in the safetensors format (huggingface/safetensors), which Python
// reads:
//
//   8 bytes, little-endian: the length n of the header
//   n bytes: JSON { "__metadata__": {text: text}, NAME: {"dtype", "shape", "data_offsets": [begin,
//   end]} },
//            padded with spaces so that the data begin at a multiple of 64
//   the data, row-major little-endian, tensor after tensor without a gap
//
// Files written here carry two more metadata: "checksum.data", XXH64 of the data, and
// "checksum.header", XXH64 of all bytes before the data with its own 16 digits as zeros. So no
// byte can change unseen.
//
// Limits: F32 and F64 only, at most 8 dimensions, headers of at most 16 MB; a file is read whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace headroom::safetensors {

enum class Type { kF32, kF64 };
const char* type_name(Type type);  // "F32", "F64"
std::size_t type_bytes(Type type);

using Metadata = std::vector<std::pair<std::string, std::string>>;

struct Tensor {
  std::string name;
  Type type = Type::kF32;
  std::vector<std::size_t> shape;  // {} for a scalar
  std::string_view bytes;          // not owned; need not be aligned
  std::size_t size() const { return bytes.size() / type_bytes(type); }
};

// A tensor over values that stay where they are until the file is written.
template <class S>
Tensor tensor(std::string name, std::vector<std::size_t> shape, std::span<const S> values) {
  static_assert(std::is_same_v<S, float> || std::is_same_v<S, double>);
  return {std::move(name),
          std::is_same_v<S, float> ? Type::kF32 : Type::kF64,
          std::move(shape),
          {reinterpret_cast<const char*>(values.data()), values.size_bytes()}};
}

// That a header may list: each takes up to ten of json::kMaxValues.
inline constexpr std::size_t kMostTensors = 99'000;

// Writes the file atomically. Names and metadata keys must be unique and without "checksum.".
// Throws Error(kFile) with the path, Error(kUsage) for more than a header may list.
void write(const std::filesystem::path& path, std::span<const Tensor> tensors,
           const Metadata& metadata);

// A file that has been read and checked: every size, offset and checksum holds.
class Archive {
 public:
  // Throws Error(kCorrupt) with the path and what is wrong, Error(kFile) if it cannot be read or
  // holds more than max_bytes. Nothing is allocated by a length that the file only claims.
  explicit Archive(const std::filesystem::path& path, std::uint64_t max_bytes = kMaxBytes);
  // The same of bytes in memory, which messages call `path`.
  Archive(std::string content, std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  const Tensor* find(std::string_view name) const;          // nullptr if there is none
  const std::string* metadata(std::string_view key) const;  // nullptr if there is none
  bool has_checksums() const { return has_checksums_; }     // false for files of other programs

  static constexpr std::uint64_t kMaxBytes = 64ull << 30;

 private:
  [[noreturn]] void fail(const std::string& what) const;
  void read_header(std::string_view header, std::string_view data);
  void check_layout(std::string_view data);
  void check_sums(std::string_view head, std::string_view data);

  std::filesystem::path path_;
  std::shared_ptr<const std::string> content_;
  std::vector<Tensor> tensors_;  // in the order of their data
  Metadata metadata_;
  bool has_checksums_ = false;
};

// Copies the tensor's values, converting between float and double. `out` has the tensor's size.
template <class S>
void copy_values(const Tensor& tensor, std::span<S> out);

}  // namespace headroom::safetensors
