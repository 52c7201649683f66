#include <Eigen/Dense>
#include <vector>

#include "baselines/makers.h"

namespace headroom {

namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Points = Eigen::Map<const RowMajor>;  // (N,d)

Points points(View<const float, 2> x) {
  return {x.data, static_cast<Eigen::Index>(x.dim(0)), static_cast<Eigen::Index>(x.dim(1))};
}

// yhat_i = a x_i + b sum_{j != i} x_j (science A.2): the best linear map of the set, for by
// symmetry under rotations and permutations of the points no other linear map does better.
class BestLinearMap final : public Baseline {
 public:
  BestLinearMap(double a, double b) : a_(static_cast<float>(a)), b_(static_cast<float>(b)) {}

  void predict(std::size_t, View<const float, 2> input, View<float, 2> output) const override {
    const Points x = points(input);
    Eigen::Map<RowMajor> out(output.data, x.rows(), x.cols());
    const Eigen::RowVectorXf shared = b_ * x.colwise().sum();
    out = ((a_ - b_) * x).rowwise() + shared;
  }

 private:
  float a_, b_;
};

}  // namespace

// a and b by least squares on data of their own; of least norm where they cannot be told apart, as
// on antipodal points, whose sum is 0.
std::unique_ptr<Baseline> make_best_linear_map(const Task& task, std::uint64_t seed) {
  constexpr std::size_t kItems = 1024;
  const TaskShape shape = task.shape();
  std::vector<float> memory((shape.tokens + shape.predictions) * shape.input_dim);
  const View<float, 2> input(memory.data(), {shape.tokens, shape.input_dim});
  const View<float, 2> target(memory.data() + input.size(), {shape.predictions, shape.output_dim});

  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(2, 2);
  Eigen::VectorXd moment = Eigen::VectorXd::Zero(2);
  for (std::size_t item = 0; item < kItems; ++item) {
    Random random(seed, Purpose::kBaseline, kFitStep, item);
    task.sample(random, task.final_stage(), input, target);
    const Eigen::MatrixXd x = points(input).cast<double>(), y = points(target).cast<double>();
    const Eigen::RowVectorXd sum = x.colwise().sum();
    const Eigen::MatrixXd others = (-x).rowwise() + sum;
    gram(0, 0) += x.squaredNorm();
    gram(0, 1) += x.cwiseProduct(others).sum();
    gram(1, 1) += others.squaredNorm();
    moment(0) += x.cwiseProduct(y).sum();
    moment(1) += others.cwiseProduct(y).sum();
  }
  gram(1, 0) = gram(0, 1);
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver;
  solver.setThreshold(1e-9);
  const Eigen::VectorXd ab = solver.compute(gram).solve(moment);
  return std::make_unique<BestLinearMap>(ab(0), ab(1));
}

}  // namespace headroom
