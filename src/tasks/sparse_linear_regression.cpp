// y = <w, x> with w ~ N(0, I_d) but for all entries other than `sparsity` ones, which are 0: a
// uniform subset of the first stage.dims coordinates (science D.1).
#include "tasks/in_context.h"
#include "tasks/points.h"
#include "tasks/tasks.h"

namespace headroom {

namespace {

class SparseLinearRegression final : public InContextTask {
 public:
  explicit SparseLinearRegression(const TaskConfig& config) : InContextTask(config) {}

 protected:
  void answer(Random& random, Stage stage, View<const float, 2> x, std::span<float> w,
              std::span<float> y) const override {
    random.fill_normal(w);
    // Selection sampling (Knuth 3.4.2, algorithm S): one pass, every subset alike.
    std::size_t left = config_.sparsity;
    for (std::size_t c = 0; c < w.size(); ++c) {
      const bool keep =
          c < stage.dims && random.below(static_cast<std::uint32_t>(stage.dims - c)) < left;
      if (keep) {
        --left;
      } else {
        w[c] = 0;
      }
    }
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] = dot(w.data(), x.data + i * w.size(), w.size());
  }
  // `sparsity` of the coordinates in use.
  double mean_square(const InputMoments& x) const override {
    return static_cast<double>(config_.sparsity * config_.dim) /
           static_cast<double>(final_stage().dims) * x.square;
  }
};

}  // namespace

std::unique_ptr<Task> make_sparse_linear_regression(const TaskConfig& config) {
  return std::make_unique<SparseLinearRegression>(config);
}

}  // namespace headroom
