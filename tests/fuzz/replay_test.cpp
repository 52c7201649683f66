// The fuzzers' corpus without clang: seeds, damage of them, and everything that was once found.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/rng.h"
#include "fuzz/readers.h"

namespace headroom::replay_test {

namespace fs = std::filesystem;

struct Input {
  std::string name, bytes;
};

std::vector<Input> inputs(const fs::path& folder) {
  std::vector<Input> all;
  if (!fs::exists(folder)) return all;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    all.push_back({entry.path().filename(), {std::istreambuf_iterator<char>(file), {}}});
  }
  std::sort(all.begin(), all.end(),
            [](const Input& a, const Input& b) { return a.name < b.name; });  // for the same draws
  return all;
}

// One to three injuries: a flipped bit, another byte, a cut, a piece lost, said twice or taken from
// another file.
std::string damaged(std::string bytes, const std::string& other, Random& random) {
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(random.below(static_cast<std::uint32_t>(n)));
  };
  for (std::size_t injuries = 1 + below(3); injuries > 0 && !bytes.empty(); --injuries) {
    const std::size_t at = below(bytes.size());
    const std::size_t n = 1 + below(std::min<std::size_t>(bytes.size() - at, 40));
    switch (below(6)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(below(256));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.erase(at, n);
        break;
      case 4:
        bytes.insert(at, bytes.substr(at, n));
        break;
      case 5:
        if (const std::size_t from = below(other.size()); from < other.size()) {
          bytes.insert(at, other.substr(from, n));
        }
        break;
    }
  }
  return bytes;
}

class Replay : public testing::TestWithParam<fuzz::Reader> {
 protected:
  Replay() {
    fuzz::stand_in_empty_folder();
    const std::string name = GetParam().name;
    const fs::path source = HEADROOM_SOURCE;
    seeds_ = inputs(source / "tests/fuzz/seeds" / name);
    for (const Input& input : inputs(source / "configs")) {
      if (name != "checkpoint") seeds_.push_back(input);
    }
    findings_ = inputs(source / "tests/fuzz/findings" / name);
  }
  ~Replay() override { fs::current_path(before_); }
  static void read(const std::string& bytes, const std::string& name) {
    EXPECT_NO_THROW(GetParam().read(bytes)) << GetParam().name << ": " << name << "\n" << bytes;
  }
  const fs::path before_ = fs::current_path();
  std::vector<Input> seeds_, findings_;
};

TEST_P(Replay, SeedsAndFindings) {
  ASSERT_GE(seeds_.size(), 3u);
  for (const Input& input : seeds_) read(input.bytes, input.name);
  for (const Input& input : findings_) read(input.bytes, input.name);
}

TEST_P(Replay, DamagedSeeds) {
  constexpr int kTrials = 1500;
  Random random(1, Purpose::kTest, 0, 0);
  for (int trial = 0; trial < kTrials && !HasFailure(); ++trial) {
    const auto draw = [&]() -> const std::string& {
      return seeds_[random.below(static_cast<std::uint32_t>(seeds_.size()))].bytes;
    };
    const std::string& seed = draw();
    const std::string bytes = damaged(seed, draw(), random);
    read(bytes, "trial " + std::to_string(trial));
    if (GetParam().read != fuzz::read_checkpoint || bytes.size() < 8) continue;
    // The same damage by somebody who knows the checksums.
    const std::size_t end = fuzz::header_end(bytes);
    read(fuzz::sealed(bytes.substr(8, end - 8), bytes.substr(end)),
         "sealed trial " + std::to_string(trial));
  }
}

INSTANTIATE_TEST_SUITE_P(Readers, Replay, testing::ValuesIn(fuzz::kReaders),
                         [](const auto& reader) { return std::string(reader.param.name); });

}  // namespace headroom::replay_test
