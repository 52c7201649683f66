#include "kernels/matmul.h"

#include <atomic>
#include <cassert>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>

#include "core/error.h"
#include "kernels/direct_matmul.h"

namespace headroom::kernels {
namespace {

std::atomic<std::vector<MatmulCall>*> recorded{nullptr};
std::mutex recording;
std::atomic<int> failed_status{dnnl_success};  // of the last product that failed

}  // namespace

void record_matmuls(std::vector<MatmulCall>* into) { recorded = into; }

std::size_t primitives_made() { return 0; }

void matmul(Matrix<float> c, Matrix<const float> a, Transpose ta, Matrix<const float> b,
            Transpose tb, float alpha, float beta) {
  std::vector<MatmulCall>* calls = recorded.load(std::memory_order_relaxed);
  if (calls != nullptr && c.rows > 0 && c.cols > 0) {
    const std::lock_guard lock(recording);
    calls->push_back({c.rows, c.cols, ta == Transpose::kYes ? a.rows : a.cols, ta, tb});
  }
  matmul_unrecorded(c, a, ta, b, tb, alpha, beta);
}

void matmul_unrecorded(Matrix<float> c, Matrix<const float> a, Transpose ta, Matrix<const float> b,
                       Transpose tb, float alpha, float beta) {
  const std::size_t k = ta == Transpose::kYes ? a.rows : a.cols;
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
