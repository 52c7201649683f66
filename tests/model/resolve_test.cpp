// Derived sizes and impossible combinations.
#include <gtest/gtest.h>

#include "core/error.h"
#include "model/model.h"

namespace headroom {
namespace {

std::string message_of(const ModelConfig& c, const ModelIo& io) {
  try {
    resolve(c, io);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::kUsage);
    return e.what();
  }
  return "";
}

TEST(Resolve, HeadsThatDoNotDivideNameBothKeysAndTheCountsThatDo) {
  ModelConfig c;
  c.width = 100;
  c.attention.heads = 3;
  const std::string message = message_of(c, {100, 100, 16});
  for (const char* part : {"model.attention.heads = 3", "model.width = 100",
                           "1, 2, 4, 5, 10, 20, 25, 50, 100", "key_size"})
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Resolve, FreeSizesNeedNoDivisor) {
  ModelConfig c;
  c.width = 100;
  c.attention.heads = 3;
  c.attention.key_size = 7;
  c.attention.value_size = 5;
  c.ffn.width = 0;
  EXPECT_EQ(message_of(c, {100, 100, 16}), "");
  Model<float> model(c, {100, 100, 16}, 1);
  // query, key: 21 x 100 + 21 each; value: 15 x 100 + 15; output: 100 x 15 + 100; the norm's
  // scalar.
  EXPECT_EQ(model.table().size(), 2u * (2100 + 21) + 1515 + 1600 + 1);
}

TEST(Resolve, MoreHeadsThanWidth) {
  ModelConfig c;
  c.width = 4;
  c.attention.heads = 9;
  EXPECT_NE(message_of(c, {4, 4, 3}).find("heads = 9"), std::string::npos);
  c.attention.key_size = c.attention.value_size = 1;
  EXPECT_EQ(message_of(c, {4, 4, 3}), "");
}

TEST(Resolve, ReadInAndReadOut) {
  ModelConfig c;
  c.width = 16;
  EXPECT_EQ(*resolve(c, {16, 16, 4}).read_in, ReadIn::kIdentity);
  EXPECT_EQ(*resolve(c, {16, 16, 4}).read_out, ReadOut::kIdentity);
  EXPECT_EQ(*resolve(c, {5, 1, 4}).read_in, ReadIn::kLinear);
  EXPECT_EQ(*resolve(c, {5, 1, 4}).read_out, ReadOut::kLinear);
  EXPECT_EQ(*resolve(c, {16, 1, 4}).read_out, ReadOut::kLinear);
  c.read_in = ReadIn::kIdentity;
  EXPECT_NE(message_of(c, {5, 5, 4}).find("16 and 5"), std::string::npos);
}

TEST(Resolve, PositionsMustReach) {
  ModelConfig c;
  c.positions = {PositionsType::kLearned, {}, 7};
  EXPECT_NE(message_of(c, {16, 16, 8}).find("positions.length = 7"), std::string::npos);
  EXPECT_EQ(*resolve(c, {16, 16, 7}).positions.length, 7u);
}

TEST(Resolve, DoesNotChangeWhatIsGiven) {
  ModelConfig c;
  c.norm.eps = 0.25;
  c.norm.final_norm = true;
  c.attention.key_size = 3;
  const ModelConfig r = resolve(c, {16, 16, 8});
  EXPECT_EQ(*r.norm.eps, 0.25);
  EXPECT_TRUE(*r.norm.final_norm);
  EXPECT_EQ(*r.attention.key_size, 3u);
}

}  // namespace
}  // namespace headroom
