// How much memory there is, asked before it is taken: a process that takes more than that is killed
// without a word, hours later and perhaps with others.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace headroom {

// Bytes that this process may still take: what the system has available (free swap included), or
// less where a control group limits it. Nothing where that cannot be read.
std::optional<double> available_memory_bytes();

// Throws Error(kUsage) "WHAT needs 41.2 GB of memory, 11.9 GB are available; ADVICE" where `bytes`
// are more than there are.
void require_memory(double bytes, const std::string& what, const std::string& advice);

// Asks the system for large pages, of which fewer are looked up, for memory that is made of whole
// ones; a system that has none to give leaves it as it is.
inline constexpr std::size_t kLargePageBytes = std::size_t{1} << 21;
void prefer_large_pages(void* memory, std::size_t bytes);

// "1.2 GB", in powers of 1000; whole below 1 kB.
std::string bytes_text(double bytes);

}  // namespace headroom
