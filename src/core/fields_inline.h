// The templates of fields.h: each binds one kind of storage to a row.
#pragma once

#include <algorithm>
#include <cassert>

#include "core/fields.h"

namespace headroom {

template <class U>
Fields::Field& Fields::integer(std::string name, U& storage, IntegerRange range,
                               std::string sentence) {
  static_assert(std::is_unsigned_v<U>);
  Field& field = add(std::move(name), Kind::kInteger, std::move(sentence));
  range.high = std::min<std::uint64_t>(range.high, std::numeric_limits<U>::max());
  field.integer_range = range;
  field.set_integer = [&storage, fallback = storage](std::optional<std::uint64_t> value) {
    storage = value ? static_cast<U>(*value) : fallback;
  };
  field.get_integer = [&storage] { return std::optional<std::uint64_t>(storage); };
  return field;
}

template <class U>
Fields::Field& Fields::integer(std::string name, std::optional<U>& storage, IntegerRange range,
                               std::string sentence) {
  static_assert(std::is_unsigned_v<U>);
  Field& field = add(std::move(name), Kind::kInteger, std::move(sentence), true);
  range.high = std::min<std::uint64_t>(range.high, std::numeric_limits<U>::max());
  field.integer_range = range;
  field.set_integer = [&storage](std::optional<std::uint64_t> value) {
    if (value) {
      storage = static_cast<U>(*value);
    } else {
      storage.reset();
    }
  };
  field.get_integer = [&storage]() -> std::optional<std::uint64_t> {
    if (!storage) return std::nullopt;
    return *storage;
  };
  return field;
}

template <class E>
void Fields::add_choices(Field& field, std::span<const Choice<E>> names) {
  for (const Choice<E>& choice : names) field.choices.push_back({choice.name, choice.sentence});
}

template <class E>
std::optional<std::size_t> Fields::choice_index(std::span<const Choice<E>> names, E value) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].value == value) return i;
  }
  assert(false && "an enum value without a row in its table of names");
  return std::nullopt;
}

template <class E>
Fields::Field& Fields::choice(std::string name, E& storage,
                              std::type_identity_t<std::span<const Choice<E>>> names,
                              std::string sentence) {
  static_assert(std::is_enum_v<E>);
  Field& field = add(std::move(name), Kind::kChoice, std::move(sentence));
  add_choices<E>(field, names);
  field.set_choice = [&storage, names, fallback = storage](std::optional<std::size_t> index) {
    storage = index ? names[*index].value : fallback;
  };
  field.get_choice = [&storage, names] { return choice_index<E>(names, storage); };
  return field;
}

template <class E>
Fields::Field& Fields::choice(std::string name, std::optional<E>& storage,
                              std::type_identity_t<std::span<const Choice<E>>> names,
                              std::string sentence) {
  Field& field = add(std::move(name), Kind::kChoice, std::move(sentence), true);
  add_choices<E>(field, names);
  field.set_choice = [&storage, names](std::optional<std::size_t> index) {
    if (index) {
      storage = names[*index].value;
    } else {
      storage.reset();
    }
  };
  field.get_choice = [&storage, names]() -> std::optional<std::size_t> {
    if (!storage) return std::nullopt;
    return choice_index<E>(names, *storage);
  };
  return field;
}

template <class E>
Fields::Field& Fields::choice_or_real(std::string name, std::variant<E, double>& storage,
                                      std::type_identity_t<std::span<const Choice<E>>> names,
                                      RealRange range, std::string sentence) {
  Field& field = add(std::move(name), Kind::kChoiceOrReal, std::move(sentence));
  add_choices<E>(field, names);
  field.real_range = range;
  field.set_choice = [&storage, names, fallback = storage](std::optional<std::size_t> index) {
    if (index) {
      storage = names[*index].value;
    } else {
      storage = fallback;
    }
  };
  field.get_choice = [&storage, names]() -> std::optional<std::size_t> {
    const E* value = std::get_if<E>(&storage);
    if (value == nullptr) return std::nullopt;
    return choice_index<E>(names, *value);
  };
  field.set_real = [&storage, fallback = storage](std::optional<double> value) {
    if (value) {
      storage = *value;
    } else {
      storage = fallback;
    }
  };
  field.get_real = [&storage]() -> std::optional<double> {
    if (const double* value = std::get_if<double>(&storage)) return *value;
    return std::nullopt;
  };
  return field;
}

template <std::size_t N>
Fields::Field& Fields::reals(std::string name, std::array<double, N>& storage, RealRange range,
                             std::string sentence) {
  Field& field = add(std::move(name), Kind::kReals, std::move(sentence));
  field.real_range = range;
  field.exact_length = N;
  field.set_reals = [&storage,
                     fallback = storage](const std::optional<std::vector<double>>& values) {
    storage = fallback;
    if (!values) return;
    assert(values->size() == N);
    std::copy(values->begin(), values->end(), storage.begin());
  };
  field.get_reals = [&storage] { return std::vector<double>(storage.begin(), storage.end()); };
  return field;
}

template <class S>
Fields::Field& Fields::section(std::string name, S& storage, std::string sentence) {
  Field& field = add(std::move(name), Kind::kSection, std::move(sentence));
  const auto rows = field.section = std::make_shared<Fields>();
  storage.declare(*rows);
  field.set_present = [&storage, raw = rows.get(), fallback = storage](bool present) {
    if (!present) storage = fallback;
    *raw = Fields();
    storage.declare(*raw);
  };
  field.get_present = [] { return true; };
  return field;
}

template <class S>
Fields::Field& Fields::section(std::string name, std::optional<S>& storage, std::string sentence) {
  Field& field = add(std::move(name), Kind::kSection, std::move(sentence), true);
  const auto rows = field.section = std::make_shared<Fields>();
  // Lives as long as the row: what `describe` shows of an absent section.
  const auto shown = std::make_shared<S>();
  (storage ? *storage : *shown).declare(*rows);
  field.set_present = [&storage, shown, raw = rows.get()](bool present) {
    if (present) {
      storage.emplace();
    } else {
      storage.reset();
    }
    *raw = Fields();
    (present ? *storage : *shown).declare(*raw);
  };
  field.get_present = [&storage] { return storage.has_value(); };
  return field;
}

template <class S>
Fields::Field& Fields::integer_or_section(std::string name, std::variant<std::size_t, S>& storage,
                                          IntegerRange range, std::string sentence) {
  Field& field = add(std::move(name), Kind::kIntegerOrSection, std::move(sentence));
  field.integer_range = range;
  const auto rows = field.section = std::make_shared<Fields>();
  const auto shown = std::make_shared<S>();
  const auto bind = [&storage, shown, raw = rows.get()] {
    *raw = Fields();
    S* present = std::get_if<S>(&storage);
    (present != nullptr ? *present : *shown).declare(*raw);
  };
  bind();
  field.set_integer = [&storage, bind, fallback = storage](std::optional<std::uint64_t> value) {
    if (value) {
      storage = static_cast<std::size_t>(*value);
    } else {
      storage = fallback;
    }
    bind();
  };
  field.get_integer = [&storage]() -> std::optional<std::uint64_t> {
    if (const std::size_t* value = std::get_if<std::size_t>(&storage)) return *value;
    return std::nullopt;
  };
  field.set_present = [&storage, bind, fallback = storage](bool present) {
    if (present) {
      storage = S{};
    } else {
      storage = fallback;
    }
    bind();
  };
  field.get_present = [&storage] { return std::holds_alternative<S>(storage); };
  return field;
}

}  // namespace headroom
