#include "fuzz/readers.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "core/hash.h"
#include "core/spelling.h"
#include "train/safetensors_format.h"

namespace headroom::fuzz {

namespace st = safetensors;

void stand_in_empty_folder() {
  const std::filesystem::path folder = HEADROOM_EMPTY_FOLDER;
  require(std::filesystem::is_empty(folder), folder.string() + " is empty");
  std::filesystem::current_path(folder);
}

void require(bool holds, const std::string& promise) {
  if (!holds) throw std::logic_error("broken promise: " + promise);
}

void check_refusal(const Error& error, std::initializer_list<Exit> codes) {
  const std::string line = error.what();
  require(std::find(codes.begin(), codes.end(), error.code()) != codes.end(),
          "exit code " + std::to_string(static_cast<int>(error.code())) + " of: " + line);
  require(!line.empty() && line.size() <= 10'000, "one line of some length: " + line);
  require(is_utf8(line), "a message is UTF-8: " + line);
  require(std::none_of(line.begin(), line.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }),
          "no control character in: " + line);
}

std::size_t header_end(std::string_view file) {
  std::uint64_t length = 0;
  if (file.size() < st::kLengthBytes) return file.size();
  std::memcpy(&length, file.data(), st::kLengthBytes);
  return st::kLengthBytes + std::min<std::uint64_t>(length, file.size() - st::kLengthBytes);
}

std::string sealed(std::string_view header, std::string_view data) {
  const std::uint64_t length = header.size();
  std::string head(st::kLengthBytes, '\0');
  std::memcpy(head.data(), &length, st::kLengthBytes);
  head += header;
  const auto fill = [&](std::string_view key, const std::string& digits) {
    const std::size_t at = head.find("\"" + std::string(key) + "\":\"");
    if (at == std::string::npos) return;
    const std::size_t value = at + key.size() + 4;
    if (value + digits.size() <= head.size()) head.replace(value, digits.size(), digits);
  };
  fill(st::kDataSum, st::sum_text(hash64(data)));
  fill(st::kHeaderSum, std::string(st::kNoSum));
  fill(st::kHeaderSum, st::sum_text(hash64(head)));
  return head + std::string(data);
}

}  // namespace headroom::fuzz
