// Whether two runs left the same files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace headroom {

struct RunComparison {
  std::size_t files = 0;   // compared, links included
  std::string difference;  // "": none; else the first differing file, row or tensor, one line
};

// Compares what the bit-for-bit promises cover: config.json, the CSV files without elapsed_s, and
// checkpoints/ with its links. run.json and log.txt, which tell of the process, are left out.
// Throws Error(kFile) for a folder or file that cannot be read.
RunComparison compare_runs(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace headroom
