// One reader over all files of the folders that the command line names, for the lines they reach.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/readers.h"

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : fs::recursive_directory_iterator(argv[i]))
      if (entry.is_regular_file()) files.push_back(fs::absolute(entry.path()));
  }
  headroom::fuzz::stand_in_empty_folder();
  for (const fs::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    headroom::fuzz::HEADROOM_FUZZ_READER(bytes);
  }
  return files.empty() ? 1 : 0;
}
