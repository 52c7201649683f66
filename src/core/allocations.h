// How often this process, its libraries included, has asked for memory.
#pragma once

#include <cstdint>
#include <optional>

namespace headroom {

// Calls of malloc and its kin so far, in all threads; nullopt where they cannot be counted (another
// C library than glibc, or a sanitizer that has its own malloc).
std::optional<std::uint64_t> allocations();

}  // namespace headroom
