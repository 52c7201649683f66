#include "model/head_budget.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/spelling.h"

namespace headroom {
namespace {

constexpr std::uint64_t kMostHeads = 65536, kMostKeySize = 65536;

std::string text(std::uint64_t n) { return std::to_string(n); }
std::string heads_text(std::uint64_t heads) {
  return " (" + text(heads) + (heads == 1 ? " head)" : " heads)");
}

// As a person writes it: 4096, 5792.62.
std::string number_text(double value) {
  if (value == std::floor(value)) return text(static_cast<std::uint64_t>(value));
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::general, 6);
  return {digits.data(), end.ptr};
}

struct Division {
  std::string name;         // "d^2.5 = 32768"
  double value = 0;         // of the budget
  std::uint64_t whole = 0;  // the same, or 0 where it is not whole
  std::uint64_t width = 0, key_size = 0, copies = 0;
  bool full = false;  // the score maps, of rank width: no other key size to take

  std::uint64_t unit(std::uint64_t size) const { return width * size * copies; }
  // Heads of this key size, or 0 where they do not come out.
  std::uint64_t heads(std::uint64_t size) const {
    if (whole == 0 || whole % unit(size) != 0) return 0;
    const std::uint64_t n = whole / unit(size);
    return n <= kMostHeads ? n : 0;
  }
};

Division division_of(const HeadBudget& budget, const ModelConfig& c) {
  Division d;
  d.width = c.width;
  d.copies = c.attention.copies;
  d.full = c.attention.score_map == HeadMap::kFull;
  d.key_size = c.attention.key_size.value_or(d.full ? c.width : 0);
  d.value = budget_value(budget, c.width);
  bool whole = d.value == std::floor(d.value);
  if (const BudgetPower* power = std::get_if<BudgetPower>(&budget.budget)) {
    d.name = name_in(kBudgetPowers, *power);
    const auto root = static_cast<std::uint64_t>(std::lround(std::sqrt(c.width)));
    // The double could look whole by rounding.
    if (*power == BudgetPower::kFiveHalves) whole = root * root == c.width;
    d.name += " = ";
  }
  d.name += number_text(d.value);
  if (!whole && std::holds_alternative<BudgetPower>(budget.budget))
    d.name += " (model.width is no square)";
  if (whole) d.whole = static_cast<std::uint64_t>(d.value);
  return d;
}

// The nearest key sizes on each side whose heads come out; "" where there are none.
std::string key_sizes_text(const Division& d) {
  if (d.full) return "";
  std::vector<std::string> sizes;
  const auto offer = [&](std::uint64_t size) {
    const std::uint64_t heads = d.heads(size);
    if (heads > 0) sizes.push_back(text(size) + heads_text(heads));
    return heads > 0;
  };
  for (std::uint64_t size = std::min(d.key_size, kMostKeySize + 1); size-- > 1;)
    if (offer(size)) break;
  for (std::uint64_t size = d.key_size + 1; size <= kMostKeySize && d.unit(size) <= d.whole; ++size)
    if (offer(size)) break;
  return sizes.empty() ? "" : "model.attention.key_size " + join(sizes, " or ");
}

// The nearest budgets on each side that this key size divides.
std::string budgets_text(const Division& d) {
  const std::uint64_t unit = d.unit(d.key_size);
  const double ratio = d.value / static_cast<double>(unit);
  std::vector<std::string> budgets;
  const auto offer = [&](std::uint64_t heads) {
    budgets.push_back(text(heads * unit) + heads_text(heads));
  };
  if (ratio >= static_cast<double>(kMostHeads)) {
    offer(kMostHeads);
  } else {
    const auto below = static_cast<std::uint64_t>(ratio);
    if (below > 0) offer(below);
    offer(below + 1);
  }
  return "budget " + join(budgets, " or ");
}

}  // namespace

double budget_value(const HeadBudget& budget, std::size_t width) {
  if (const double* number = std::get_if<double>(&budget.budget)) return *number;
  const double d = static_cast<double>(width);
  switch (std::get<BudgetPower>(budget.budget)) {
    case BudgetPower::kSquare:
      return d * d;
    case BudgetPower::kFiveHalves:
      return d * d * std::sqrt(d);
    case BudgetPower::kCube:
      return d * d * d;
  }
  return 0;
}

void resolve_head_budget(ModelConfig& c) {
  const HeadBudget* budget = std::get_if<HeadBudget>(&c.attention.heads.given);
  if (budget == nullptr) return;
  const Division d = division_of(*budget, c);
  const std::string key = "model.attention.heads.budget = " + d.name;
  if (d.key_size == 0) {
    const std::string sizes = key_sizes_text(d);
    refuse(key + " needs model.attention.key_size: heads = budget / (width * key_size * copies)" +
           (sizes.empty() ? "" : "; the least that works: " + sizes));
  }
  const std::uint64_t heads = d.heads(d.key_size);
  if (heads == 0) {
    const double ratio = d.value / static_cast<double>(d.unit(d.key_size));
    const std::string product = " = " + text(d.width) + " * " + text(d.key_size) + " * " +
                                text(d.copies) + " = " + text(d.unit(d.key_size));
    const std::string sizes = key_sizes_text(d);
    refuse(key + " over model.width * model.attention.key_size * model.attention.copies" + product +
           " is " + number_text(ratio) + " heads, not a whole number from 1 to " +
           text(kMostHeads) + "; the nearest that work: " + budgets_text(d) +
           (sizes.empty() ? "" : ", or " + sizes));
  }
  if (!c.attention.value_size && c.attention.value_map == HeadMap::kFactored)
    c.attention.value_size = static_cast<std::size_t>(d.key_size);
  c.attention.heads = static_cast<std::size_t>(heads);
}

}  // namespace headroom
