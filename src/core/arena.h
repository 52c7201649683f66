// One allocation cut into views. A layout function takes an Arena and asks it for views in a fixed
// order; it is run once on a measuring arena (no memory, only a size) and once on a real one, so
// the size cannot disagree with the layout:
//
//   Arena<float> measure;  make_cache(measure, shape);
//   Arena<float> arena(measure.used());  Cache cache = make_cache(arena, shape);
//
// mark() and rewind() let two parts that are never alive together share memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>

#include "core/memory.h"
#include "core/view.h"

namespace headroom {

inline constexpr std::size_t kCacheLineBytes = 64;

template <class T>
class Arena {
 public:
  Arena() = default;  // measures only
  explicit Arena(std::size_t n_elements) : capacity_(n_elements), memory_(allocate(n_elements)) {}

  // The next view of these dimensions, zero when fresh, aligned to a cache line. Sizes that no
  // machine can hold throw Error(kUsage).
  template <class... D>
  View<T, sizeof...(D)> take(D... dims) {
    View<T, sizeof...(D)> view{nullptr, {static_cast<std::size_t>(dims)...}};
    const std::size_t per_line = std::max<std::size_t>(1, kCacheLineBytes / sizeof(T));
    const std::size_t n = (checked_size(view.dims) + per_line - 1) / per_line * per_line;
    if (used_ + n > kMaxElements) too_large();
    if (memory_) {
      if (used_ + n > capacity_) throw std::logic_error("an arena holds less than it measured");
      view.data = memory_.get() + used_;
    }
    used_ += n;
    peak_ = std::max(peak_, used_);
    return view;
  }

  std::size_t mark() const { return used_; }
  void rewind(std::size_t mark) { used_ = mark; }
  std::size_t used() const { return peak_; }          // elements; what the real arena must hold
  std::size_t capacity() const { return capacity_; }  // elements; 0 for one that measures

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  static T* allocate(std::size_t n) {
    const std::size_t wanted = std::max<std::size_t>(n, 1) * sizeof(T);
    const std::size_t whole = wanted >= kLargePageBytes ? kLargePageBytes : kCacheLineBytes;
    const std::size_t bytes = (wanted + whole - 1) / whole * whole;
    require_memory(static_cast<double>(bytes), "a buffer",
                   "a smaller train.batch, eval.batch or task needs less");
    void* p = std::aligned_alloc(whole, bytes);
    if (p == nullptr) throw std::bad_alloc();
    if (whole == kLargePageBytes) prefer_large_pages(p, bytes);
    std::uninitialized_fill_n(static_cast<T*>(p), bytes / sizeof(T), T{});
    return static_cast<T*>(p);
  }

  std::size_t capacity_ = 0, used_ = 0, peak_ = 0;
  std::unique_ptr<T[], Free> memory_;
};

}  // namespace headroom
