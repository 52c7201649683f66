#include "core/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "core/error.h"

namespace headroom::file_test {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_ =
      fs::temp_directory_path() / ("headroom files \xC3\xA4 " + std::to_string(::getpid()));
};

TEST_F(Files, WritesWholeAndLeavesNothingElse) {
  write_file_atomically(folder_ / "a", "one");
  write_file_atomically(folder_ / "a", "two");
  EXPECT_EQ(read_file(folder_ / "a", 100), "two");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, ErrorsNameThePath) {
  const auto message = [](auto&& f) {
    try {
      f();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Exit::kFile);
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(
      message([&] { read_file(folder_ / "none", 10); }).find("none: cannot open: No such file"),
      std::string::npos);
  EXPECT_NE(message([&] { read_file(folder_, 10); }).find("Is a directory"), std::string::npos);
  write_file_atomically(folder_ / "long", "0123456789x");
  EXPECT_NE(message([&] { read_file(folder_ / "long", 10); }).find("limit of 10 bytes"),
            std::string::npos);
  EXPECT_NE(message([&] { write_file_atomically(folder_ / "no" / "where", "x"); }).find("no/where"),
            std::string::npos);
  EXPECT_NE(message([&] { read_file("/dev/zero", 1000); }).find("limit"), std::string::npos);
}

TEST_F(Files, AFullDiskKeepsTheOldFile) {
  LineFile full("/dev/full");
  EXPECT_THROW(full.append("x"), Error);
  fs::create_directory(folder_ / "target");
  write_file_atomically(folder_ / "target" / "inner", "x");
  EXPECT_THROW(write_file_atomically(folder_ / "target", "x"), Error);  // a folder in the way
  EXPECT_EQ(entries(), 1u);  // and the temporary file is gone
}

TEST_F(Files, DevicesAndPipesAreWrittenToAndLinksFollowed) {
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread reader([&] { EXPECT_EQ(read_file(pipe, 100), "through"); });
  write_file_atomically(pipe, "through");
  reader.join();
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  const std::filesystem::path target = folder_ / "target", link = folder_ / "link";
  write_file_atomically(target, "old");
  std::filesystem::create_symlink("target", link);
  write_file_atomically(link, "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_file(target, 100), "new");
}

TEST_F(Files, LinksAreReplaced) {
  write_file_atomically(folder_ / "one", "1");
  write_file_atomically(folder_ / "two", "2");
  replace_link(folder_ / "last", "one");
  replace_link(folder_ / "last", "two");
  EXPECT_EQ(read_file(folder_ / "last", 10), "2");
  EXPECT_EQ(fs::read_symlink(folder_ / "last"), "two");
  EXPECT_EQ(entries(), 3u);
}

TEST_F(Files, LinesAreThereAtOnce) {
  LineFile file(folder_ / "log");
  file.append("a,b");
  EXPECT_EQ(read_file(folder_ / "log", 100), "a,b\n");
  file.append("1,2");
  EXPECT_EQ(read_file(folder_ / "log", 100), "a,b\n1,2\n");
}

}  // namespace headroom::file_test
