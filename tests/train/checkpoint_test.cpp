#include "train/checkpoint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "temporary_folder.h"
#include "train/checkpoint_folder.h"

namespace headroom::checkpoint_test {

namespace fs = std::filesystem;

ParamTable table_of(const std::vector<std::pair<std::string, std::vector<std::size_t>>>& rows) {
  ParamTable table;
  for (const auto& [name, shape] : rows) {
    ParamRow row;
    row.name = name;
    row.shape = shape;
    table.add(row);
  }
  return table;
}

const ParamTable kTable = table_of({{"a.weight", {2, 3}}, {"a.bias", {2}}, {"scale", {1}}});

struct Sample {
  explicit Sample(OptimizerType type = OptimizerType::kAdamW) : optimizer({.type = type}, kTable) {
    std::iota(params.begin(), params.end(), 0.25f);
    std::iota(optimizer.m().begin(), optimizer.m().end(), 100.0f);
    std::iota(optimizer.v().begin(), optimizer.v().end(), 200.0f);
  }
  void save(const fs::path& path) const {
    save_checkpoint(path, kTable, params, optimizer, state, "{\n  \"name\": \"x\"\n}\n");
  }
  std::vector<float> params = std::vector<float>(kTable.size());
  Optimizer<float> optimizer;
  TrainState state{.step = (1ull << 63) + 1,
                   .tokens = 12345678901234567ull,
                   .loss_sum = 0.1 + 0.2,
                   .loss_count = 3,
                   .best_value = 1e-300,
                   .best_step = 7,
                   .patience_used = 2,
                   .evaluated = 1};
};

std::vector<std::string> fields_of(TrainState state) {
  std::vector<std::string> all;
  for_each_field(state, [&](const char* name, const auto& field) {
    char text[64];
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, double>) {
      std::snprintf(text, sizeof text, "%a", field);
    } else {
      std::snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(field));
    }
    all.push_back(std::string(name) + "=" + text);
  });
  return all;
}

std::string refusal(const fs::path& path, const ParamTable& table,
                    OptimizerType type = OptimizerType::kAdamW) {
  Optimizer<float> optimizer({.type = type}, table);
  std::vector<float> params(table.size(), 5);
  try {
    load_checkpoint<float>(safetensors::Archive(path), table, params, optimizer);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::kCorrupt);
    EXPECT_EQ(params, std::vector<float>(table.size(), 5)) << "touched";
    return error.what();
  }
  return "";
}

TEST(Checkpoint, RoundTripIsExact) {
  const TemporaryFolder folder;
  for (const OptimizerType type : {OptimizerType::kAdamW, OptimizerType::kSgd}) {
    const Sample sample(type);
    sample.save(folder / "c");
    sample.save(folder / "d");
    EXPECT_EQ(content_of(folder / "c"), content_of(folder / "d"));
    const safetensors::Archive archive(folder / "c");
    EXPECT_TRUE(is_checkpoint(archive));
    EXPECT_EQ(*archive.metadata("config"), "{\n  \"name\": \"x\"\n}\n");
    EXPECT_NE(archive.find("optimizer.m.a.weight"), nullptr);
    EXPECT_EQ(archive.find("optimizer.v.scale") != nullptr, type == OptimizerType::kAdamW);
    Sample other(type);
    std::fill(other.params.begin(), other.params.end(), 0.0f);
    std::fill(other.optimizer.m().begin(), other.optimizer.m().end(), 0.0f);
    std::fill(other.optimizer.v().begin(), other.optimizer.v().end(), 0.0f);
    const TrainState state = load_checkpoint<float>(archive, kTable, other.params, other.optimizer);
    EXPECT_EQ(other.params, sample.params);
    EXPECT_TRUE(std::ranges::equal(other.optimizer.m(), sample.optimizer.m()));
    EXPECT_TRUE(std::ranges::equal(other.optimizer.v(), sample.optimizer.v()));
    EXPECT_EQ(fields_of(state), fields_of(sample.state));
  }
}

TEST(Checkpoint, AStateWithoutABestReadsBack) {
  const TemporaryFolder folder;
  Sample sample;
  sample.state = {};
  sample.save(folder / "c");
  const TrainState state = load_checkpoint<float>(safetensors::Archive(folder / "c"), kTable,
                                                  sample.params, sample.optimizer);
  EXPECT_TRUE(std::isnan(state.best_value));
  EXPECT_EQ(fields_of(state), fields_of(sample.state));
}

TEST(Checkpoint, WhatDoesNotFitIsNamed) {
  const TemporaryFolder folder;
  Sample sample;
  sample.save(folder / "c");
  const auto expect = [&](const std::string& message, const char* word) {
    EXPECT_NE(message.find(word), std::string::npos) << message;
  };
  EXPECT_EQ(refusal(folder / "c", kTable), "");
  expect(refusal(folder / "c", table_of({{"a.weight", {3, 2}}, {"a.bias", {2}}, {"scale", {1}}})),
         "a.weight");
  expect(refusal(folder / "c", table_of({{"a.weight", {2, 3}}, {"b.bias", {2}}, {"scale", {1}}})),
         "b.bias");
  expect(refusal(folder / "c", table_of({{"a.weight", {2, 3}}, {"a.bias", {2}}})), "9 tensors");
  expect(refusal(folder / "c", kTable, OptimizerType::kSgd), "adamw");
  sample.params[7] = std::numeric_limits<float>::quiet_NaN();
  sample.save(folder / "nan");
  expect(refusal(folder / "nan", kTable), "a.bias");
}

TEST(Checkpoint, AnotherFileIsNoCheckpointButGivesItsWeights) {
  const TemporaryFolder folder;
  const std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto part = [&](std::size_t first, std::size_t n) {
    return std::span<const float>(values).subspan(first, n);
  };
  std::vector<safetensors::Tensor> tensors{safetensors::tensor("scale", {1}, part(8, 1)),
                                           safetensors::tensor("a.bias", {2}, part(6, 2)),
                                           safetensors::tensor("a.weight", {2, 3}, part(0, 6))};
  safetensors::write(folder / "w", tensors, {});
  EXPECT_NE(refusal(folder / "w", kTable).find("no checkpoint"), std::string::npos);
  std::vector<float> params(9);
  load_params<float>(safetensors::Archive(folder / "w"), kTable, params);
  EXPECT_EQ(params, values);
  std::vector<double> wide(9);
  load_params<double>(safetensors::Archive(folder / "w"), kTable, wide);
  EXPECT_EQ(wide[8], 9);

  tensors.push_back(safetensors::tensor("extra", {1}, part(0, 1)));
  safetensors::write(folder / "w", tensors, {});
  try {
    load_params<float>(safetensors::Archive(folder / "w"), kTable, params);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::kCorrupt);
    EXPECT_NE(std::string(error.what()).find("extra"), std::string::npos);
  }
}

TEST(Checkpoint, GivesItsParametersAlone) {
  const TemporaryFolder folder;
  const Sample sample;
  sample.save(folder / "c");
  std::vector<float> params(kTable.size());
  load_params<float>(safetensors::Archive(folder / "c"), kTable, params);
  EXPECT_EQ(params, sample.params);
}

TEST(CheckpointFolder, KeepsTheNewestAndTheBest) {
  const TemporaryFolder temporary;
  CheckpointFolder folder(temporary.path(), 2);
  const auto save = [&](std::uint64_t step, bool best) {
    folder.save(step, best, [&](const fs::path& file) { put(file, std::to_string(step)); });
  };
  using Steps = std::vector<std::uint64_t>;
  save(0, true);
  save(5, false);
  EXPECT_EQ(folder.steps(), (Steps{0, 5}));
  save(10, false);
  EXPECT_EQ(folder.steps(), (Steps{0, 5, 10}));
  save(15, true);
  EXPECT_EQ(folder.steps(), (Steps{10, 15}));
  save(20, false);
  save(1'000'000'000'000, false);
  EXPECT_EQ(folder.steps(), (Steps{15, 20, 1'000'000'000'000}));
  EXPECT_EQ(fs::read_symlink(temporary / "last.safetensors"), "step-1000000000000.safetensors");
  EXPECT_EQ(fs::read_symlink(temporary / "best.safetensors"), "step-000000015.safetensors");
  EXPECT_EQ(content_of(temporary / "best.safetensors"), "15");
}

TEST(CheckpointFolder, AFailedWriteChangesNothing) {
  const TemporaryFolder temporary;
  CheckpointFolder folder(temporary.path(), 1);
  folder.save(1, true, [](const fs::path& file) { put(file, "1"); });
  EXPECT_THROW(folder.save(2, true, [](const fs::path&) { throw Error(Exit::kFile, "full"); }),
               Error);
  EXPECT_EQ(content_of(temporary / "last.safetensors"), "1");
  EXPECT_EQ(content_of(temporary / "best.safetensors"), "1");
}

}  // namespace headroom::checkpoint_test
