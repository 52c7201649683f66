// A tensor that is renamed, reshaped or forgotten must not pass unseen.
#include "theory/hand_set.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace headroom::hand_set_test {

class HandSetTest : public testing::Test {
 protected:
  HandSetTest() {
    table_.add({.name = "square", .shape = {2, 2}, .init = {}});
    table_.add({.name = "wide", .shape = {1, 3}, .init = {}});
    values_.assign(table_.size(), -7.0f);
  }

  template <class F>
  std::string complaint(const F& act) {
    try {
      act();
    } catch (const std::logic_error& error) {
      return error.what();
    }
    return "";
  }

  ParamTable table_;
  std::vector<float> values_;
};

TEST_F(HandSetTest, SetsByName) {
  HandSet set(table_, values_);
  set.fill("wide", 1.5);
  set.identity("square", -2);
  EXPECT_NO_THROW(set.finish());
  EXPECT_EQ(values_, (std::vector<float>{-2, 0, 0, -2, 1.5f, 1.5f, 1.5f}));
}

TEST_F(HandSetTest, NamesWhatIsWrong) {
  HandSet set(table_, values_);
  EXPECT_NE(complaint([&] { set.fill("round", 1); }).find("'round'"), std::string::npos);
  EXPECT_NE(complaint([&] { set.finish(); }).find("'square' has not"), std::string::npos);
  set.identity("square", 1);
  EXPECT_NE(complaint([&] { set.fill("square", 1); }).find("twice"), std::string::npos);
  EXPECT_NE(complaint([&] { set.finish(); }).find("'wide' has not"), std::string::npos);
  EXPECT_NE(complaint([&] { set.identity("wide", 1); }).find("square matrix"), std::string::npos);
}

}  // namespace headroom::hand_set_test
