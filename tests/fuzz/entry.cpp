// One reader as libFuzzer wants it; HEADROOM_FUZZ_READER is its function, HEADROOM_FUZZ_SEALED set
// where mutated files need their checksums back.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>

#include "fuzz/readers.h"

// What the command line names stays what it was.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  static std::deque<std::string> absolute;
  for (int i = 1; i < *argc; ++i) {
    char*& word = (*argv)[i];
    if (*word != '-') word = absolute.emplace_back(std::filesystem::absolute(word).string()).data();
  }
  headroom::fuzz::stand_in_empty_folder();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  headroom::fuzz::HEADROOM_FUZZ_READER({reinterpret_cast<const char*>(data), size});
  return 0;
}

#ifdef HEADROOM_FUZZ_SEALED
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  if (seed % 8 == 0) return LLVMFuzzerMutate(data, size, max_size);  // damage as it comes
  const std::string file(reinterpret_cast<const char*>(data), size);
  const std::size_t end = headroom::fuzz::header_end(file);
  std::string header =
      file.substr(std::min<std::size_t>(8, end), end - std::min<std::size_t>(8, end));
  std::string rest = file.substr(end);
  std::string& part = seed % 8 < 7 ? header : rest;
  const std::size_t before = part.size(), other = size - before;
  if (other + 8 >= max_size) return LLVMFuzzerMutate(data, size, max_size);
  part.resize(max_size - other - 8);
  part.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(part.data()), before, part.size()));
  const std::string made = headroom::fuzz::sealed(header, rest);
  const std::size_t n = std::min(made.size(), max_size);
  std::copy_n(made.data(), n, reinterpret_cast<char*>(data));
  return n;
}
#endif
