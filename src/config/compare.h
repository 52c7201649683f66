// What differs between two configs as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace headroom {

// The value at a dotted path below `root`, or nullptr.
const json::Value* value_at(const json::Value& root, std::string_view path);

// nullptr stands for no such field, which equals nothing else.
bool equal(const json::Value* a, const json::Value* b);

struct Difference {
  std::string key;           // dotted
  const json::Value *a, *b;  // nullptr: a field that this side has not
};
// The fields below two objects that differ, in the order of a; one that only b has comes after the
// one before it there. They point into a and b.
std::vector<Difference> differences(const json::Value& a, const json::Value& b);

}  // namespace headroom
