// Each config field is declared once - name, storage, range, sentence - and from that one row come
// the strict reader, --set, the writer, `describe`, help and the JSON Schema. A config struct says:
//
//   void AttentionConfig::declare(Fields& f) {
//     f.integer("heads", heads, {1, 65536}, "Softmaxes per copy.").alias({"n_heads"});
//     f.choice("mask", mask, kMasks, "Which keys a query sees.");
//   }
//
// The struct's own initialisers are the defaults. std::optional storage means null is a value of
// its own ("derived"); for every other field null restores the default. The rows refer to the
// struct: it must outlive them and stay where it is. Names are unique within a struct, and
// `declare` declares every member.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/json.h"

namespace headroom {

struct IntegerRange {
  std::uint64_t low = 0, high = std::numeric_limits<std::uint64_t>::max();
};
// Closed unless an end is marked open. The ends may be infinite; values must be finite.
struct RealRange {
  double low, high;
  bool low_open = false, high_open = false;
};

// One row a name of an enum: the table from which reading, writing and `describe` all work.
template <class E>
struct Choice {
  E value;
  const char* name;
  const char* sentence;
};

// The name of `value`, which has a row.
template <class Table, class E>
const char* name_in(const Table& table, E value) {
  for (const auto& row : table)
    if (row.value == value) return row.name;
  return "";
}

class Fields {
 public:
  enum class Kind {
    kInteger,
    kReal,
    kBoolean,
    kText,
    kChoice,
    kReals,
    kTexts,
    kSection,
    kChoiceOrReal,     // "inv_sqrt_key_size" or 0.5
    kIntegerOrSection  // 8 or { "budget": "d^2.5" }
  };
  struct ChoiceRow {
    std::string name, sentence;
  };
  struct Field {
    std::string name, sentence;
    Kind kind = Kind::kText;
    bool nullable = false;  // null is a value of its own
    IntegerRange integer_range;
    RealRange real_range{0, 0};
    std::vector<ChoiceRow> choices;
    std::size_t exact_length = 0;  // kReals: 0 = any length
    std::vector<std::string>
        only_for;  // names of the struct's `type` this field goes with; empty = all
    std::vector<std::string> aliases;  // what others call it; known to "did you mean" alone
    std::shared_ptr<Fields>
        section;  // bound to the sub-struct, or to a default one where it is absent
    // Typed access to the storage; nullopt stands for null. Only those of its kind are set; of the
    // two-way kinds both, where a getter gives nullopt while the other way is taken.
    std::function<void(std::optional<std::uint64_t>)> set_integer;
    std::function<std::optional<std::uint64_t>()> get_integer;
    std::function<void(std::optional<double>)> set_real;
    std::function<std::optional<double>()> get_real;
    std::function<void(std::optional<bool>)> set_boolean;
    std::function<std::optional<bool>()> get_boolean;
    std::function<void(std::optional<std::string>)> set_text;
    std::function<std::string()> get_text;
    std::function<void(std::optional<std::size_t>)> set_choice;  // index into choices
    std::function<std::optional<std::size_t>()> get_choice;
    std::function<void(std::optional<std::vector<double>>)> set_reals;
    std::function<std::vector<double>()> get_reals;
    std::function<void(std::optional<std::vector<std::string>>)> set_texts;
    std::function<std::vector<std::string>()> get_texts;
    // Makes the sub-struct exist, a fresh one, or restores the default; `section` follows.
    std::function<void(bool)> set_present;
    std::function<bool()> get_present;

    // Names under which users of other tools look for this field.
    void alias(std::vector<std::string> names) { aliases = std::move(names); }
  };

  // An unsigned whole number (any of the unsigned types, or an optional of one).
  template <class U>
  Field& integer(std::string name, U& storage, IntegerRange range, std::string sentence);
  template <class U>
  Field& integer(std::string name, std::optional<U>& storage, IntegerRange range,
                 std::string sentence);
  Field& real(std::string name, double& storage, RealRange range, std::string sentence);
  Field& real(std::string name, std::optional<double>& storage, RealRange range,
              std::string sentence);
  Field& boolean(std::string name, bool& storage, std::string sentence);
  Field& boolean(std::string name, std::optional<bool>& storage, std::string sentence);
  Field& text(std::string name, std::string& storage, std::string sentence);
  template <class E>
  Field& choice(std::string name, E& storage,
                std::type_identity_t<std::span<const Choice<E>>> names, std::string sentence);
  template <class E>
  Field& choice(std::string name, std::optional<E>& storage,
                std::type_identity_t<std::span<const Choice<E>>> names, std::string sentence);
  // One of the names, or a number.
  template <class E>
  Field& choice_or_real(std::string name, std::variant<E, double>& storage,
                        std::type_identity_t<std::span<const Choice<E>>> names, RealRange range,
                        std::string sentence);
  // A list of exactly N reals.
  template <std::size_t N>
  Field& reals(std::string name, std::array<double, N>& storage, RealRange range,
               std::string sentence);
  Field& texts(std::string name, std::vector<std::string>& storage, std::string sentence);
  // A nested struct with a declare(Fields&) of its own; optional: null = absent.
  template <class S>
  Field& section(std::string name, S& storage, std::string sentence);
  template <class S>
  Field& section(std::string name, std::optional<S>& storage, std::string sentence);
  // A whole number, or an object.
  template <class S>
  Field& integer_or_section(std::string name, std::variant<std::size_t, S>& storage,
                            IntegerRange range, std::string sentence);
  // Fields declared from here on go only with these names of the struct's `type` field; given with
  // another type they are an error that says so, and they are not written. {} ends it.
  void only_for(std::vector<std::string> types);

  const std::vector<Field>& rows() const { return rows_; }
  std::vector<Field>& rows() { return rows_; }
  const Field* find(std::string_view name) const;  // nullptr if there is none
  // Whether the field goes with the struct's present type.
  bool applies(const Field& field) const;

 private:
  Field& add(std::string name, Kind kind, std::string sentence, bool nullable = false);
  template <class E>
  static void add_choices(Field& field, std::span<const Choice<E>> names);
  template <class E>
  static std::optional<std::size_t> choice_index(std::span<const Choice<E>> names, E value);

  std::vector<Field> rows_;
  std::vector<std::string> only_for_;
};

// What the field takes: "a whole number from 1 to 65536", "true or false", "relu, gelu_tanh", ...
std::string value_text(const Fields::Field& field);
// Its present value as config.json would hold it; a section is an object.
json::Value field_value(const Fields::Field& field);
// All of them, in the order of declaration; fields that do not apply are left out.
json::Value write_fields(const Fields& fields);

enum class Applicability { kChecked, kIgnored };
// Sets the fields from an object. An unknown key, a wrong type, a value out of range or a field of
// another `type` throws Error(kUsage): "a.json:12: train.optimizer.learning_rte: unknown key; did
// you mean 'lr'?". A field of another type is passed over instead where a later layer
// (json::Origin) chose the type, and, with kIgnored, always accepted: for a document that others
// will be merged over.
void read_fields(const json::Value& value, Fields& fields,
                 Applicability applicability = Applicability::kChecked);

// The field at a dotted path. Throws Error(kUsage) "ORIGIN: PATH: unknown key ..." where there is
// none.
const Fields::Field& field_at(const Fields& fields, std::string_view path,
                              const std::string& origin);

// The dotted path of the first field below `fields` that has this name, alias or path; "" where
// there is none.
std::string find_path(const Fields& fields, std::string_view word);

}  // namespace headroom

#include "core/fields_inline.h"
