#include "config/compare.h"

#include <algorithm>
#include <utility>

namespace headroom {
namespace {

using Leaves = std::vector<std::pair<std::string, const json::Value*>>;

void add_leaves(Leaves& leaves, const json::Value& value, const std::string& path) {
  const json::Object* object = value.object();
  if (object == nullptr || object->empty()) {
    leaves.emplace_back(path, &value);
    return;
  }
  for (const auto& [key, member] : *object)
    add_leaves(leaves, member, path.empty() ? key : path + "." + key);
}

const json::Value* find(const Leaves& leaves, const std::string& key) {
  const auto leaf =
      std::find_if(leaves.begin(), leaves.end(), [&](const auto& l) { return l.first == key; });
  return leaf == leaves.end() ? nullptr : leaf->second;
}

}  // namespace

const json::Value* value_at(const json::Value& root, std::string_view path) {
  const json::Value* at = &root;
  while (at != nullptr && !path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    at = at->find(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return at;
}

bool equal(const json::Value* a, const json::Value* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return json::write(*a, 0) == json::write(*b, 0);
}

std::vector<Difference> differences(const json::Value& a, const json::Value& b) {
  Leaves in_a, in_b;
  add_leaves(in_a, a, "");
  add_leaves(in_b, b, "");
  std::vector<std::string> keys;
  for (const auto& leaf : in_a) keys.push_back(leaf.first);
  auto at = keys.begin();
  for (const auto& leaf : in_b) {
    const auto known = std::find(keys.begin(), keys.end(), leaf.first);
    at = known != keys.end() ? known + 1 : keys.insert(at, leaf.first) + 1;
  }
  std::vector<Difference> found;
  for (const std::string& key : keys) {
    const json::Value *of_a = find(in_a, key), *of_b = find(in_b, key);
    if (!equal(of_a, of_b)) found.push_back({key, of_a, of_b});
  }
  return found;
}

}  // namespace headroom
