#include "core/allocations.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>

#if defined(__has_feature)  // clang's word for what g++ defines
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HEADROOM_SANITIZER_ALLOCATES 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEADROOM_SANITIZER_ALLOCATES 1
#endif

#if defined(__GLIBC__) && !defined(HEADROOM_SANITIZER_ALLOCATES)
#define HEADROOM_COUNTS_ALLOCATIONS 1
#endif

#if HEADROOM_COUNTS_ALLOCATIONS

namespace {
std::atomic<std::uint64_t> n_allocations{0};
void count() { n_allocations.fetch_add(1, std::memory_order_relaxed); }
}  // namespace

// glibc lets a program define these; they count and go on to glibc's own.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t n, std::size_t size);
void* __libc_realloc(void* p, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  count();
  return __libc_malloc(size);
}
void* calloc(std::size_t n, std::size_t size) {
  count();
  return __libc_calloc(n, size);
}
void* realloc(void* p, std::size_t size) {
  count();
  return __libc_realloc(p, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** p, std::size_t alignment, std::size_t size) {
  count();
  *p = __libc_memalign(alignment, size);
  return *p == nullptr ? ENOMEM : 0;
}
}

#endif

namespace headroom {

std::optional<std::uint64_t> allocations() {
#if HEADROOM_COUNTS_ALLOCATIONS
  return n_allocations.load(std::memory_order_relaxed);
#else
  return std::nullopt;
#endif
}

}  // namespace headroom
