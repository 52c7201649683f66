#include "train/run_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sys/wait.h>
#include <chrono>
#include <vector>

#include "core/error.h"
#include "temporary_folder.h"

namespace headroom::run_directory_test {

namespace fs = std::filesystem;

const std::vector<NewFile> kFiles{{"config.json", "{}"}, {"run.json", "{\"a\": 1}"}};

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

Error refusal(const fs::path& path, bool force = false) {
  try {
    make_run_directory(path, force, kFiles);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << path << " was made";
  return Error(Exit::kDone, "");
}

TEST(RunDirectory, IsMadeWhole) {
  const TemporaryFolder folder;
  EXPECT_EQ(make_run_directory(folder / "run a \xc3\xa9/", false, kFiles), std::nullopt);
  EXPECT_EQ(content_of(folder / "run a \xc3\xa9/config.json"), "{}");
  EXPECT_EQ(content_of(folder / "run a \xc3\xa9/run.json"), "{\"a\": 1}");
  EXPECT_TRUE(fs::is_directory(folder / "run a \xc3\xa9/checkpoints"));
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(RunDirectory, AUsedOneIsRefusedWithAdvice) {
  const TemporaryFolder folder;
  make_run_directory(folder / "run", false, kFiles);
  const Error error = refusal(folder / "run");
  EXPECT_EQ(error.code(), Exit::kUsage);
  for (const char* word : {"run", "--out", "--force", "--resume"}) {
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos);
  }
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(RunDirectory, ForceMovesTheOldOneAside) {
  const TemporaryFolder folder;
  make_run_directory(folder / "run", false, kFiles);
  put(folder / "run/train.csv", "first");
  EXPECT_EQ(make_run_directory(folder / "run", true, kFiles), folder / "run.old-1");
  put(folder / "run/train.csv", "second");
  EXPECT_EQ(make_run_directory(folder / "run/", true, kFiles), folder / "run.old-2");
  EXPECT_EQ(content_of(folder / "run.old-1/train.csv"), "first");
  EXPECT_EQ(content_of(folder / "run.old-2/train.csv"), "second");
  EXPECT_FALSE(fs::exists(folder / "run/train.csv"));
}

TEST(RunDirectory, AnEmptyFolderIsFilledInPlace) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "empty");
  make_run_directory(folder / "empty", false, kFiles);
  EXPECT_EQ(content_of(folder / "empty/config.json"), "{}");
  EXPECT_EQ(refusal(folder / "empty").code(), Exit::kUsage);
}

TEST(RunDirectory, WhatKilledProcessesLeftBesideItGoes) {
  const TemporaryFolder folder;
  for (const char* name : {".run.tmp-1", ".run.tmp-2", ".other.tmp-1"}) {
    fs::create_directories(folder / name / "checkpoints");
    if (name != std::string(".run.tmp-2")) {
      fs::last_write_time(folder / name, fs::file_time_type::clock::now() - std::chrono::hours(1));
    }
  }
  make_run_directory(folder / "run", false, kFiles);
  EXPECT_FALSE(fs::exists(folder / ".run.tmp-1"));
  EXPECT_TRUE(fs::exists(folder / ".run.tmp-2"));  // perhaps of a live process
  EXPECT_TRUE(fs::exists(folder / ".other.tmp-1"));
}

TEST(RunDirectory, OfManyAtOnceOneWins) {
  const TemporaryFolder folder;
  for (const bool exists : {false, true}) {
    const fs::path wanted = folder / (exists ? "there" : "new");
    if (exists) fs::create_directory(wanted);
    int made = 0, refused = 0;
    std::vector<int> children;
    for (int i = 0; i < 8; ++i) {
      const int child = fork();
      if (child == 0) {
        int code = 1;
        try {
          make_run_directory(wanted, false, kFiles);
          code = 0;
        } catch (const Error& error) {
          code = static_cast<int>(error.code());
        }
        _exit(code);
      }
      children.push_back(child);
    }
    for (const int child : children) {
      int status = 0;
      waitpid(child, &status, 0);
      made += WEXITSTATUS(status) == 0;
      refused += WEXITSTATUS(status) == 2;
    }
    EXPECT_EQ(made, 1);
    EXPECT_EQ(refused, 7);
  }
  EXPECT_EQ(entries(folder.path()), 2u);
}

TEST(RunDirectory, AMissingOrUnwritableParentIsAFileError) {
  const TemporaryFolder folder;
  const Error missing = refusal(folder / "none/run");
  EXPECT_EQ(missing.code(), Exit::kFile);
  EXPECT_NE(std::string(missing.what()).find("none"), std::string::npos);

  put(folder / "file", "x");
  EXPECT_EQ(refusal(folder / "file").code(), Exit::kFile);
  EXPECT_EQ(refusal(folder / "file/run").code(), Exit::kFile);
  EXPECT_EQ(refusal("/proc/run").code(), Exit::kFile);  // nobody, root included, may write there
  EXPECT_EQ(refusal("").code(), Exit::kUsage);
}

}  // namespace headroom::run_directory_test
