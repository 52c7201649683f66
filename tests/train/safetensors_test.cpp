#include "train/safetensors.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/error.h"
#include "temporary_folder.h"

namespace headroom::safetensors {
namespace {

const std::vector<float> kFloats{1.5f, -2,   3e-40f, std::numeric_limits<float>::quiet_NaN(),
                                 0,    -0.0f};
const std::vector<double> kDoubles{1e300, std::numeric_limits<double>::infinity()};
const std::vector<double> kScalar{0.1};

void write_sample(const std::filesystem::path& path) {
  const std::vector<Tensor> tensors{
      tensor<float>("layers.0.weight", {2, 3}, kFloats), tensor<float>("empty", {0, 4}, {}),
      tensor<double>("wide", {2}, kDoubles), tensor<double>("scalar", {}, kScalar)};
  write(path, tensors, {{"step", "17"}, {"text", "a \"quoted\"\nline \xc3\xa9"}});
}

// The message of the Error(kCorrupt) with which the file is refused; "" if it is read.
std::string refusal(const std::filesystem::path& path) {
  try {
    const Archive archive(path);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::kCorrupt) << error.what();
    EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos) << error.what();
    return error.what();
  }
}

std::string with_header(const std::string& header, const std::string& data) {
  std::string file(8, '\0');
  const std::uint64_t n = header.size();
  std::memcpy(file.data(), &n, 8);
  return file + header + data;
}

TEST(Safetensors, RoundTrip) {
  const TemporaryFolder folder;
  write_sample(folder / "a.safetensors");
  const Archive archive(folder / "a.safetensors");
  EXPECT_TRUE(archive.has_checksums());
  ASSERT_EQ(archive.tensors().size(), 4u);
  EXPECT_EQ(*archive.metadata("step"), "17");
  EXPECT_EQ(*archive.metadata("text"), "a \"quoted\"\nline \xc3\xa9");
  EXPECT_EQ(archive.metadata("none"), nullptr);
  const Tensor* const t = archive.find("layers.0.weight");
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(t->shape, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(std::memcmp(t->bytes.data(), kFloats.data(), 24), 0);
  EXPECT_EQ(archive.find("empty")->size(), 0u);
  EXPECT_EQ(archive.find("scalar")->shape.size(), 0u);
  std::vector<double> wide(2);
  copy_values(*archive.find("wide"), std::span<double>(wide));
  EXPECT_EQ(wide, kDoubles);
  std::vector<double> widened(6);
  copy_values(*t, std::span<double>(widened));
  EXPECT_EQ(widened[0], 1.5);
  EXPECT_TRUE(std::isnan(widened[3]));
}

TEST(Safetensors, DataAreAlignedAndTheSameBytesTwice) {
  const TemporaryFolder folder;
  write_sample(folder / "a");
  write_sample(folder / "b");
  const std::string a = content_of(folder / "a");
  EXPECT_EQ(a, content_of(folder / "b"));
  std::uint64_t n = 0;
  std::memcpy(&n, a.data(), 8);
  EXPECT_EQ((8 + n) % 64, 0u);
  EXPECT_EQ(a.size(), 8 + n + 24 + 16 + 8);
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const TemporaryFolder folder;
  write_sample(folder / "a");
  const std::string whole = content_of(folder / "a");
  for (std::size_t n = 0; n < whole.size(); ++n) {
    put(folder / "cut", whole.substr(0, n));
    ASSERT_NE(refusal(folder / "cut"), "") << n << " of " << whole.size();
  }
  put(folder / "cut", whole + "x");
  EXPECT_NE(refusal(folder / "cut"), "");
}

TEST(Safetensors, EveryFlippedByteIsRefused) {
  const TemporaryFolder folder;
  write_sample(folder / "a");
  const std::string whole = content_of(folder / "a");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int bit : {1, 0x20, 0x80}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ bit);
      put(folder / "flip", damaged);
      ASSERT_NE(refusal(folder / "flip"), "") << "byte " << at << " bit " << bit;
    }
  }
}

TEST(Safetensors, HugeClaimsAllocateNothing) {
  const TemporaryFolder folder;
  for (const int top : {0x00, 0x0f, 0x7f, 0xff}) {
    std::string file(64, '\xff');
    file[7] = static_cast<char>(top);
    put(folder / "huge", file);
    EXPECT_NE(refusal(folder / "huge").find("header"), std::string::npos);
  }
  put(folder / "huge", with_header(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],)"
                                   R"("data_offsets":[0,0]}})",
                                   ""));
  EXPECT_NE(refusal(folder / "huge").find("shape"), std::string::npos);
  put(folder / "huge", with_header(R"({"a":{"dtype":"F32","shape":[1000000000000],)"
                                   R"("data_offsets":[0,4000000000000]}})",
                                   "1234"));
  EXPECT_NE(refusal(folder / "huge").find("reaches"), std::string::npos);
}

TEST(Safetensors, ReadsFilesOfOthersWithoutChecksums) {
  const TemporaryFolder folder;
  put(folder / "a", with_header(R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},)"
                                R"("a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}  )",
                                std::string("\0\0\x80\x3f\0\0\0\x40", 8)));
  const Archive archive(folder / "a");
  EXPECT_FALSE(archive.has_checksums());
  float b = 0;
  copy_values(*archive.find("b"), std::span<float>(&b, 1));
  EXPECT_EQ(b, 2);
}

struct Bad {
  const char* header;
  const char* word;  // in the message
};

TEST(Safetensors, RefusesWhatItCannotTrust) {
  const TemporaryFolder folder;
  const Bad cases[] = {
      {"", "does not begin"},
      {"[]", "does not begin"},
      {" {}", "does not begin"},
      {"{", "header"},
      {"{}", "follow"},
      {R"({"a":1})", "no JSON object"},
      {R"({"__metadata__":[]})", "no JSON object"},
      {R"({"__metadata__":{"a":1}})", "no string"},
      {R"({"a":{"dtype":"F32","shape":[2]}})", "data_offsets"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}})", "data_offsets"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,8]}})", "data_offsets"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}})", "data_offsets"},
      {R"({"a":{"dtype":"F32","shape":2,"data_offsets":[0,8]}})", "data_offsets"},
      {R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", "shape"},
      {R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", "shape"},
      {R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,2],"data_offsets":[0,8]}})", "shape"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551616]}})", "offsets"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", "reaches"},
      {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})", "reaches"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})", "does not fit"},
      {R"({"a":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}})", "BF16"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "4 bytes follow"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", "gap"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
       R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
       "overlaps"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
       R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
       "second time"},
  };
  for (const Bad& bad : cases) {
    put(folder / "bad", with_header(bad.header, "12345678"));
    const std::string message = refusal(folder / "bad");
    EXPECT_NE(message.find(bad.word), std::string::npos) << bad.header << "\n" << message;
  }
  put(folder / "good",
      with_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "12345678"));
  EXPECT_EQ(refusal(folder / "good"), "");
}

TEST(Safetensors, AMissingFileIsAFileError) {
  const TemporaryFolder folder;
  try {
    const Archive archive(folder / "none");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::kFile);
  }
}

}  // namespace
}  // namespace headroom::safetensors
