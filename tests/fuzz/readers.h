// The readers of what comes from outside, as fuzzers call them: any bytes must be taken or refused
// with one line and the right exit code, and what is taken must hold what the reader promises.
// libFuzzer drives them with inputs of its own (entry.cpp, scripts/fuzz.sh), replay_test.cpp with
// the corpus, its mutations and whatever was once found.
#pragma once

#include <array>
#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>

#include "core/error.h"

namespace headroom::fuzz {

// Each throws std::logic_error where a promise is broken.
// A config, then after each line "%%" an item of --set.
void read_config(std::string_view input);
// A safetensors file: a checkpoint, weights, or a dump of `step`.
void read_checkpoint(std::string_view input);
// A sweep of at most 12 points.
void read_sweep(std::string_view input);

struct Reader {
  const char* name;
  void (*read)(std::string_view input);
};
inline void PrintTo(const Reader& reader, std::ostream* out) { *out << reader.name; }
inline constexpr std::array kReaders{Reader{"config", read_config},
                                     Reader{"checkpoint", read_checkpoint},
                                     Reader{"sweep", read_sweep}};

// Goes to a folder that is there for it and empty: configs and sweeps name relative paths, and what
// they find must not depend on where the program was started. Throws std::logic_error where
// something lies there.
void stand_in_empty_folder();

void require(bool holds, const std::string& promise);

// Checks what every refusal promises: an exit code of `codes`, one line fit for a terminal.
void check_refusal(const Error& error, std::initializer_list<Exit> codes);

// Whether the reader takes it; else it refused properly.
template <class Read>
bool taken(const Read& read, std::initializer_list<Exit> codes) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    check_refusal(error, codes);
    return false;
  }
}

// The bytes as a safetensors file whose claimed header length and checksums hold, as far as they
// can be made to: else nearly every mutation would end at the first check.
std::string sealed(std::string_view header, std::string_view data);
// Where the header ends, by its claim; never beyond the end.
std::size_t header_end(std::string_view file);

}  // namespace headroom::fuzz
