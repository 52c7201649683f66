// Views: a pointer with its dimensions. They never own memory (core/arena.h does) and copy like a
// pointer. View<T, N> is contiguous and row-major; Matrix<T> is 2-D with a row stride, so that a
// column range of a wider matrix is a Matrix too.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <span>
#include <type_traits>

#include "core/error.h"

namespace headroom {

// More elements than any machine holds, and few enough that their bytes can be counted.
inline constexpr std::size_t kMaxElements = std::size_t{1} << 58;

[[noreturn]] inline void too_large() {
  throw Error(
      Exit::kUsage,
      "these sizes together are beyond any machine's memory; a smaller model, batch or task "
      "needs less");
}

// The number of elements of these dimensions. Throws Error(kUsage) beyond kMaxElements, where the
// product itself would soon wrap.
inline std::size_t checked_size(std::span<const std::size_t> dims) {
  std::size_t n = 1;
  for (const std::size_t d : dims) {
    if (d != 0 && n > kMaxElements / d) too_large();
    n *= d;
  }
  return n;
}

template <class T, std::size_t N>
struct View {
  T* data = nullptr;
  std::array<std::size_t, N> dims{};

  View() = default;
  View(T* data_in, std::array<std::size_t, N> dims_in) : data(data_in), dims(dims_in) {}
  // View<T> converts to View<const T>.
  template <class U>
  requires(std::is_same_v<const U, T> && !std::is_same_v<U, T>) View(const View<U, N>& other)
      : data(other.data), dims(other.dims) {}  // NOLINT

  std::size_t size() const {
    std::size_t n = 1;
    for (std::size_t d : dims) n *= d;
    return n;
  }
  std::size_t dim(std::size_t i) const { return dims[i]; }
  bool empty() const { return data == nullptr || size() == 0; }
  std::span<T> flat() const { return {data, size()}; }

  // Element (i, j, ...), one index a dimension.
  template <class... I>
  requires(sizeof...(I) == N) T& operator()(I... index) const {
    const std::array<std::size_t, N> at{static_cast<std::size_t>(index)...};
    std::size_t offset = 0;
    for (std::size_t i = 0; i < N; ++i) {
      assert(at[i] < dims[i]);
      offset = offset * dims[i] + at[i];
    }
    return data[offset];
  }

  // The sub-view at index i of the first dimension.
  View<T, N - 1> operator[](std::size_t i) const requires(N > 1) {
    assert(i < dims[0]);
    View<T, N - 1> sub;
    for (std::size_t k = 1; k < N; ++k) sub.dims[k - 1] = dims[k];
    sub.data = data + i * sub.size();
    return sub;
  }

  // Entries first .. first + count - 1 of the first dimension.
  View range(std::size_t first, std::size_t count) const {
    assert(first + count <= dims[0]);
    View part = *this;
    part.dims[0] = count;
    const std::size_t n = dims[0] == 0 ? 0 : size() / dims[0];
    part.data = data + first * n;
    return part;
  }

  // The same memory under other dimensions of the same size.
  template <std::size_t M>
  View<T, M> reshape(std::array<std::size_t, M> new_dims) const {
    View<T, M> other{data, new_dims};
    assert(other.size() == size());
    return other;
  }
};

// A row-major matrix whose rows lie `stride` elements apart.
template <class T>
struct Matrix {
  T* data = nullptr;
  std::size_t rows = 0, cols = 0, stride = 0;

  Matrix() = default;
  Matrix(T* data_in, std::size_t rows_in, std::size_t cols_in, std::size_t stride_in)
      : data(data_in), rows(rows_in), cols(cols_in), stride(stride_in) {
    assert(stride >= cols);
  }
  Matrix(const View<std::remove_const_t<T>, 2>& v)  // NOLINT
      : Matrix(v.data, v.dims[0], v.dims[1], v.dims[1]) {}
  Matrix(const View<const T, 2>& v)  // NOLINT
      requires(std::is_const_v<T>)
      : Matrix(v.data, v.dims[0], v.dims[1], v.dims[1]) {}
  template <class U>
  requires(std::is_same_v<const U, T> && !std::is_same_v<U, T>) Matrix(const Matrix<U>& o)
      : Matrix(o.data, o.rows, o.cols, o.stride) {}  // NOLINT

  T* row(std::size_t i) const {
    assert(i < rows);
    return data + i * stride;
  }
  T& operator()(std::size_t i, std::size_t j) const {
    assert(i < rows && j < cols);
    return data[i * stride + j];
  }
  Matrix row_range(std::size_t first, std::size_t count) const {
    assert(first + count <= rows);
    return {data + first * stride, count, cols, stride};
  }
  Matrix col_range(std::size_t first, std::size_t count) const {
    assert(first + count <= cols);
    return {data + first, rows, count, stride};
  }
};

// All leading dimensions of a view folded into rows: (B, T, C) -> (B*T, C).
template <class T, std::size_t N>
View<T, 2> as_rows(const View<T, N>& v) {
  const std::size_t cols = v.dims[N - 1];
  return {v.data, {cols == 0 ? 0 : v.size() / cols, cols}};
}

}  // namespace headroom
