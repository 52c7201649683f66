// What the tests of the training loop share: a folder, no signal pending, and readers of a run's
// files.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/json.h"
#include "small_job.h"
#include "train/safetensors.h"
#include "train/signals.h"

namespace headroom {

namespace fs = std::filesystem;

class LoopTest : public testing::Test {
 protected:
  explicit LoopTest(const fs::path& parent = fs::temp_directory_path()) : folder(parent) {}
  void SetUp() override { clear_stop_signal(); }
  void TearDown() override { clear_stop_signal(); }
  TemporaryFolder folder;
};

// While one exists, bfloat16 is emulated.
class EmulatedBfloat16 {
 public:
  EmulatedBfloat16() { ::setenv("HEADROOM_EMULATE_BFLOAT16", "1", 1); }
  ~EmulatedBfloat16() {
    ::unsetenv("HEADROOM_EMULATE_BFLOAT16");
    use_precision(Precision::kFloat32);
  }
  EmulatedBfloat16(const EmulatedBfloat16&) = delete;
  EmulatedBfloat16& operator=(const EmulatedBfloat16&) = delete;
};

inline std::vector<std::vector<std::string>> rows_of(const fs::path& csv) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream text(content_of(csv));
  for (std::string line; std::getline(text, line);) {
    std::vector<std::string>& row = rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
  }
  return rows;
}

inline std::vector<std::string> column(const fs::path& csv, std::size_t at) {
  std::vector<std::string> cells;
  for (const auto& row : rows_of(csv)) cells.push_back(row.at(at));
  return cells;
}

// Parameters of a run's last checkpoint by name.
inline std::map<std::string, std::vector<double>> last_params(const fs::path& run) {
  const safetensors::Archive archive(run / "checkpoints/last.safetensors");
  std::map<std::string, std::vector<double>> params;
  for (const safetensors::Tensor& t : archive.tensors()) {
    if (t.name.starts_with("optimizer.")) continue;
    std::vector<double>& values = params[t.name];
    values.resize(t.size());
    safetensors::copy_values(t, std::span<double>(values));
  }
  return params;
}

inline Error failure(const TrainJob& job) {
  try {
    train(job);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(Exit::kDone, "");
}

inline json::Value run_json_of(const fs::path& run) {
  return json::parse(content_of(run / "run.json"), "run.json");
}
inline std::string number_of(const json::Value& value) {
  return std::get<json::Number>(value.data).text;
}
inline std::string text_of(const json::Value& value) { return std::get<std::string>(value.data); }

}  // namespace headroom
