// The only doorway to OpenMP. Work is cut into tiles whose number and borders depend on the shapes
// alone, never on the number of threads; a tile's sums run in a fixed order, so the same seed gives
// the same bits with any number of threads.
#pragma once

#include <omp.h>

#include <cstddef>

#include "core/intrinsics.h"

namespace headroom {

// How many threads parallel_for uses, at least 1. The default is default_threads().
void set_threads(int n);
int threads();

// Set while the calling thread works alone (Alone).
inline thread_local constinit bool works_alone = false;

// While one exists, the thread that made it runs parallel loops by itself, as worker 0 of 1: inside
// a tile that is a computation of its own, with buffers of its own.
class Alone {
 public:
  Alone() : before_(works_alone) { works_alone = true; }
  ~Alone() { works_alone = before_; }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  bool before_;
};

struct ThreadChoice {
  int threads;
  const char* reason;  // "OMP_NUM_THREADS", "cgroup quota", "CPU affinity"
};
// OMP_NUM_THREADS where it is set, else the cores this process may use: the affinity mask, capped
// by the cgroup CPU quota (rounded up). Throws Error(kUsage) where the variable is no number.
ThreadChoice default_threads();

// Starts n - 1 threads beside this one, as the first parallel loop will, and ends them again.
// Throws Error(kUsage) naming `reason` and how many could be started: OpenMP itself ends the
// process where it cannot start one.
void require_threads(int n, const char* reason);

// A thread that waits at the end of a parallel loop spins before it sleeps. libgomp spins for
// milliseconds, which on a busy machine takes the time from the very thread it waits for: a small
// model slowed down 14 times under a load of 8 on 2 cores. It reads its limit from the environment
// before main() only, so this sets GOMP_SPINCOUNT and starts the program anew, once; it returns
// where the user has chosen a policy, or if that fails.
void limit_spinning(char** argv);

// Flush denormals to zero in the calling thread (and read them as zero). parallel_for does so in
// every worker; main() does so for itself.
inline void flush_denormals() {
#if defined(__SSE__)
  _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
}

// The index of the calling worker, 0 .. threads()-1, for its share of a scratch buffer.
inline std::size_t worker() {
  return works_alone ? 0 : static_cast<std::size_t>(omp_get_thread_num());
}

// body(tile) for tile = 0 .. n_tiles-1, in any order, on up to threads() workers. body must not
// throw.
template <class Body>
void parallel_for(std::size_t n_tiles, const Body& body) {
  const int n_threads = works_alone ? 1 : threads();
  if (n_threads == 1 || n_tiles <= 1) {
    for (std::size_t tile = 0; tile < n_tiles; ++tile) body(tile);
    return;
  }
#pragma omp parallel num_threads(n_threads)
  {
    flush_denormals();
#pragma omp for schedule(dynamic, 1)
    for (std::size_t tile = 0; tile < n_tiles; ++tile) body(tile);
  }
}

// Rows 0 .. n_rows-1 in tiles of `tile_rows`: body(first, count).
template <class Body>
void parallel_rows(std::size_t n_rows, std::size_t tile_rows, const Body& body) {
  const std::size_t n_tiles = (n_rows + tile_rows - 1) / tile_rows;
  parallel_for(n_tiles, [&](std::size_t tile) {
    const std::size_t first = tile * tile_rows;
    body(first, first + tile_rows <= n_rows ? tile_rows : n_rows - first);
  });
}

}  // namespace headroom
