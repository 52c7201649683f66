// Matrix products, single-threaded: the building block that the parallel kernels call inside their
// tiles.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/view.h"

namespace headroom::kernels {

enum class Transpose { kNo, kYes };

// c (m,n) = alpha * op(a) op(b) + beta * c, op(a) (m,k), op(b) (k,n). Runs in the calling thread.
void matmul(Matrix<float> c, Matrix<const float> a, Transpose ta, Matrix<const float> b,
            Transpose tb, float alpha, float beta);

// What a call of matmul was asked to do.
struct MatmulCall {
  std::size_t m, n, k;
  Transpose ta, tb;
  double flops() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n * k); }
};
// The same for a product that record_matmuls does not count: one that was computed before and not
// kept. A step is measured by what the model must compute.
void matmul_unrecorded(Matrix<float> c, Matrix<const float> a, Transpose ta, Matrix<const float> b,
                       Transpose tb, float alpha, float beta);

// The same in float32 whatever set_operands said, unrecorded: for data and for products of weights
// with weights.
void matmul_float32(Matrix<float> c, Matrix<const float> a, Transpose ta, Matrix<const float> b,
                    Transpose tb, float alpha, float beta);

// An operand of several products: op(values), and the memory in which it was laid out for them, or
// nullptr where products take it as it lies.
struct Operand {
  Matrix<const float> values;
  Transpose transpose = Transpose::kNo;
  const float* laid_out = nullptr;
};
enum class Side { kLeft, kRight };
// Floats that op(x) (rows, cols) takes laid out on either side, whole cache lines; 0 where products
// take operands as they lie, which all do but those of kBfloat16Tiles. Of what set_operands said
// last: memory is planned after it.
std::size_t layout_floats(std::size_t rows, std::size_t cols);
// Lays an operand out at `memory`, which begins at a cache line, and moves that on past it; nullptr
// for as it lies. laid_out() is the operand that lay_out() left there.
Operand lay_out(float*& memory, Side side, Matrix<const float> values, Transpose transpose);
Operand laid_out(float*& memory, Side side, Matrix<const float> values, Transpose transpose);
// c = op(a) op(b) + beta * c.
void multiply(Matrix<float> c, const Operand& a, const Operand& b, float beta);
void multiply_unrecorded(Matrix<float> c, const Operand& a, const Operand& b, float beta);

// What matmul and matmul_unrecorded multiply: alpha * op(a) and op(b) as they are or rounded to
// bfloat16. Sums are float32 either way.
enum class Operands {
  kFloat32,
  kBfloat16,          // large products by oneDNN, by the CPU's instructions: has_bfloat16()
  kBfloat16Tiles,     // by the CPU's matrix tiles: has_tiles()
  kRoundedToBfloat16  // by float32 instructions: as exact, on any CPU, slower than float32
};
// For all threads of the process. Not while products run.
void set_operands(Operands operands);
// Whether this CPU multiplies bfloat16 itself (AVX-512 BF16), and which of the two it does faster.
bool has_bfloat16();
Operands bfloat16_operands();

// Throws Error(kUsage) where a product since the start failed, for want of memory: what it should
// have written is not there. Asked outside of parallel regions, after products in them.
void require_products();

// From now on every call of matmul, of any thread, is noted in `into`; nullptr ends it. For
// measuring alone.
void record_matmuls(std::vector<MatmulCall>* into);
// oneDNN primitives made so far: those of kBfloat16, one a shape and thread; dnnl_sgemm and tiles
// work without.
std::size_t primitives_made();

// "oneDNN 2.6.3".
std::string matmul_library();

}  // namespace headroom::kernels
