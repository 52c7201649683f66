#include "kernels/matmul.h"

#include <atomic>
#include <cassert>
#include <map>
#include <mutex>
#include <new>
#include <oneapi/dnnl/dnnl.hpp>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "kernels/bfloat16.h"
#include "kernels/direct_matmul.h"
#include "kernels/tile_matmul.h"

namespace headroom::kernels {
namespace {

std::atomic<std::vector<MatmulCall>*> recorded{nullptr};
std::mutex recording;
std::atomic<int> failed_status{dnnl_success};  // of the last product that failed
std::atomic<Operands> operands{Operands::kFloat32};
std::atomic<std::size_t> n_primitives{0};

// An operand rounded to bfloat16 and kept as T, rows without gaps; the memory is the thread's own.
template <class T>
class Rounded {
 public:
  Matrix<const T> of(Matrix<const float> a, float factor) {
    if (values_.size() < a.rows * a.cols) values_.resize(a.rows * a.cols);
    for (std::size_t i = 0; i < a.rows; ++i) {
      const float* const from = a.data + i * a.stride;
      T* const to = values_.data() + i * a.cols;
      for (std::size_t j = 0; j < a.cols; ++j) {
        const std::uint16_t rounded = to_bfloat16(factor * from[j]);
        if constexpr (std::is_same_v<T, float>) {
          to[j] = from_bfloat16(rounded);
        } else {
          to[j] = rounded;
        }
      }
    }
    return {values_.data(), a.rows, a.cols, a.cols};
  }

 private:
  std::vector<T> values_;
};

// oneDNN's products of bfloat16 operands: primitives of one thread, each made at its first use.
class LibraryProducts {
 public:
  void multiply(Matrix<float> c, Matrix<const std::uint16_t> a, bool ta,
                Matrix<const std::uint16_t> b, bool tb, float beta) {
    const dnnl::memory::dim m = whole(c.rows), n = whole(c.cols), k = whole(ta ? a.rows : a.cols);
    const dnnl::memory::desc to({m, n}, Type::f32, {whole(c.stride), 1});
    const auto operand = [](dnnl::memory::dim rows, dnnl::memory::dim cols, bool transposed) {
      return dnnl::memory::desc({rows, cols}, Type::bf16,
                                transposed ? Dims{1, rows} : Dims{cols, 1});
    };
    const dnnl::memory::desc left = operand(m, k, ta), right = operand(k, n, tb);
    const auto [at, is_new] =
        made_.try_emplace(std::tuple(m, n, k, whole(c.stride), ta, tb, beta), dnnl::matmul());
    if (is_new) {
      dnnl::primitive_attr attributes;
      if (beta != 0) {
        dnnl::post_ops sum;
        sum.append_sum(beta);
        attributes.set_post_ops(sum);
      }
#if DNNL_VERSION_MAJOR >= 3
      at->second = dnnl::matmul({engine_, left, right, to, attributes});
#else
      at->second = dnnl::matmul({{left, right, to}, attributes, engine_});
#endif
      ++n_primitives;
    }
    // Operands are only read.
    at->second.execute(stream_,
                       {{DNNL_ARG_SRC, {left, engine_, const_cast<std::uint16_t*>(a.data)}},
                        {DNNL_ARG_WEIGHTS, {right, engine_, const_cast<std::uint16_t*>(b.data)}},
                        {DNNL_ARG_DST, {to, engine_, c.data}}});
    stream_.wait();
  }

 private:
  using Type = dnnl::memory::data_type;
  using Dims = dnnl::memory::dims;
  static dnnl::memory::dim whole(std::size_t n) { return static_cast<dnnl::memory::dim>(n); }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::map<std::tuple<dnnl::memory::dim, dnnl::memory::dim, dnnl::memory::dim, dnnl::memory::dim,
                      bool, bool, float>,
           dnnl::matmul>
      made_;
};

// The length of the sums of op(a) with another.
std::size_t summed(Matrix<const float> a, Transpose ta) {
  return ta == Transpose::kYes ? a.rows : a.cols;
}

void record(Matrix<float> c, Matrix<const float> a, Transpose ta, Transpose tb) {
  std::vector<MatmulCall>* calls = recorded.load(std::memory_order_relaxed);
  if (calls == nullptr || c.rows == 0 || c.cols == 0) return;
  const std::lock_guard lock(recording);
  calls->push_back({c.rows, c.cols, summed(a, ta), ta, tb});
}

}  // namespace

void set_operands(Operands chosen) { operands = chosen; }

bool has_bfloat16() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16") != 0;
#else
  return false;
#endif
}

Operands bfloat16_operands() {
  return has_tiles() ? Operands::kBfloat16Tiles : Operands::kBfloat16;
}

void record_matmuls(std::vector<MatmulCall>* into) { recorded = into; }

std::size_t primitives_made() { return n_primitives; }

void matmul(Matrix<float> c, Matrix<const float> a, Transpose ta, Matrix<const float> b,
            Transpose tb, float alpha, float beta) {
  record(c, a, ta, tb);
  matmul_unrecorded(c, a, ta, b, tb, alpha, beta);
}

void multiply(Matrix<float> c, const Operand& a, const Operand& b, float beta) {
  record(c, a.values, a.transpose, b.transpose);
  multiply_unrecorded(c, a, b, beta);
}

void multiply_unrecorded(Matrix<float> c, const Operand& a, const Operand& b, float beta) {
  if (a.laid_out == nullptr || b.laid_out == nullptr) {
    matmul_unrecorded(c, a.values, a.transpose, b.values, b.transpose, 1.0f, beta);
  } else {
    multiply_tiles(c, a.laid_out, b.laid_out, summed(a.values, a.transpose), beta);
  }
}

std::size_t layout_floats(std::size_t rows, std::size_t cols) {
  return operands == Operands::kBfloat16Tiles ? tile_floats(rows, cols) : 0;
}

Operand laid_out(float*& memory, Side, Matrix<const float> values, Transpose transpose) {
  const std::size_t n = memory == nullptr ? 0 : layout_floats(values.rows, values.cols);
  return {values, transpose, n == 0 ? nullptr : std::exchange(memory, memory + n)};
}

Operand lay_out(float*& memory, Side side, Matrix<const float> values, Transpose transpose) {
  float* const to = memory;
  const Operand operand = laid_out(memory, side, values, transpose);
  if (operand.laid_out != nullptr)
    lay_out_tiles(to, values, transpose == Transpose::kYes, side == Side::kLeft);
  return operand;
}

void matmul_unrecorded(Matrix<float> c, Matrix<const float> a, Transpose ta, Matrix<const float> b,
                       Transpose tb, float alpha, float beta) {
  const Operands chosen = operands.load(std::memory_order_relaxed);
  if (chosen == Operands::kFloat32) {
    matmul_float32(c, a, ta, b, tb, alpha, beta);
    return;
  }
  if (c.rows == 0 || c.cols == 0) return;
  const std::size_t k = summed(a, ta);
  const bool at = ta == Transpose::kYes, bt = tb == Transpose::kYes;
  try {
    if (chosen == Operands::kBfloat16Tiles && k > 0) {
      tile_matmul(c, a, at, b, bt, alpha, beta);
    } else if (chosen == Operands::kRoundedToBfloat16 || k == 0 || direct_matmul_pays(c.cols, k)) {
      thread_local Rounded<float> left, right;
      matmul_float32(c, left.of(a, alpha), ta, right.of(b, 1.0f), tb, 1.0f, beta);
    } else {
      thread_local Rounded<std::uint16_t> left, right;
      thread_local LibraryProducts products;
      products.multiply(c, left.of(a, alpha), at, right.of(b, 1.0f), bt, beta);
    }
  } catch (const dnnl::error& e) {
    failed_status = e.status;
  } catch (const std::bad_alloc&) {
    failed_status = dnnl_out_of_memory;
  }
}

void matmul_float32(Matrix<float> c, Matrix<const float> a, Transpose ta, Matrix<const float> b,
                    Transpose tb, float alpha, float beta) {
  const std::size_t k = summed(a, ta);
  assert((ta == Transpose::kYes ? a.cols : a.rows) == c.rows);
  assert((tb == Transpose::kYes ? b.rows : b.cols) == c.cols);
  assert((tb == Transpose::kYes ? b.cols : b.rows) == k);
  if (c.rows == 0 || c.cols == 0) return;
  if (direct_matmul_pays(c.cols, k)) {
    const bool transposed = ta == Transpose::kYes;
    const Strided left{a.data, transposed ? 1 : a.stride, transposed ? a.stride : 1};
    direct_matmul(c, left, b, tb == Transpose::kYes, k, alpha, beta);
    return;
  }
  // Single-threaded: inside a parallel region oneDNN does not start threads, outside one
  // set_threads() has left it a single thread.
  const dnnl_status_t status = dnnl_sgemm(
      ta == Transpose::kYes ? 'T' : 'N', tb == Transpose::kYes ? 'T' : 'N',
      static_cast<dnnl_dim_t>(c.rows), static_cast<dnnl_dim_t>(c.cols), static_cast<dnnl_dim_t>(k),
      alpha, a.data, static_cast<dnnl_dim_t>(a.stride), b.data, static_cast<dnnl_dim_t>(b.stride),
      beta, c.data, static_cast<dnnl_dim_t>(c.stride));
  if (status != dnnl_success) failed_status = status;
}

void require_products() {
  const int status = failed_status;
  if (status == dnnl_success) return;
  throw Error(
      Exit::kUsage,
      std::string("a matrix product of oneDNN failed: ") +
          (status == dnnl_out_of_memory ? "out of memory" : "status " + std::to_string(status)));
}

std::string matmul_library() {
  const dnnl_version_t* v = dnnl_version();
  return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
         std::to_string(v->patch);
}

}  // namespace headroom::kernels
