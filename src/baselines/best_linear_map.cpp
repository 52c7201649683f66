#include <Eigen/Core>
#include <vector>

#include "baselines/makers.h"
#include "core/linear_algebra.h"

namespace headroom {

namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Points = Eigen::Map<const RowMajor>;  // (N,d)

Points points(View<const float, 2> x) {
  return {x.data, static_cast<Eigen::Index>(x.dim(0)), static_cast<Eigen::Index>(x.dim(1))};
}

// yhat_i = a x_i + b sum_{j != i} x_j (science A.2), or for a query y of its own a y + b sum_j x_j:
// the best linear map of the set and the query, for by symmetry under rotations and permutations of
// the points no other linear map does better.
class BestLinearMap final : public Baseline {
 public:
  BestLinearMap(double a, double b) : a_(static_cast<float>(a)), b_(static_cast<float>(b)) {}

  void predict(std::size_t, View<const float, 2> input, View<const float, 2> query,
               View<float, 2> output) const override {
    const bool self = query.empty();
    const Points x = points(input), asker = self ? x : points(query);
    Eigen::Map<RowMajor> out(output.data, asker.rows(), asker.cols());
    const Eigen::RowVectorXf shared = b_ * x.colwise().sum();
    out = ((self ? a_ - b_ : a_) * asker).rowwise() + shared;
  }

 private:
  float a_, b_;
};

}  // namespace

// a and b by least squares on data of their own; of least norm where they cannot be told apart, as
// on antipodal points, whose sum is 0.
std::unique_ptr<Baseline> make_best_linear_map(const BaselineSetting& setting) {
  constexpr std::size_t kItems = 1024, kAsk = 16;
  const Task& task = setting.task;
  const TaskShape shape = task.shape();
  const bool self = shape.queries == 0;
  std::vector<float> memory((shape.tokens + shape.queries + shape.predictions) * shape.input_dim);
  const View<float, 2> input(memory.data(), {shape.tokens, shape.input_dim});
  const View<float, 2> query(memory.data() + input.size(), {shape.queries, shape.input_dim});
  const View<float, 2> target(query.data + query.size(), {shape.predictions, shape.output_dim});

  double gram[2][2] = {}, moment[2] = {};
  for (std::size_t item = 0; item < kItems; ++item) {
    if (item % kAsk == 0 && asked_to_stop(setting.stop)) return nullptr;
    Random random(setting.seed, Purpose::kBaseline, kFitStep, item);
    task.sample(random, task.final_stage(), input, query, target);
    const Eigen::MatrixXd asker = points(self ? input : query).cast<double>(),
                          y = points(target).cast<double>();
    const Eigen::RowVectorXd sum = points(input).cast<double>().colwise().sum();
    // Of each asker the points that are not the asker itself.
    const Eigen::MatrixXd others = ((self ? -1.0 : 0.0) * asker).rowwise() + sum;
    gram[0][0] += asker.squaredNorm();
    gram[0][1] += asker.cwiseProduct(others).sum();
    gram[1][1] += others.squaredNorm();
    moment[0] += asker.cwiseProduct(y).sum();
    moment[1] += others.cwiseProduct(y).sum();
  }
  gram[1][0] = gram[0][1];
  const std::vector<double> ab = least_squares({gram[0], 2, 2, 2}, moment, 1e-9);
  return std::make_unique<BestLinearMap>(ab[0], ab[1]);
}

}  // namespace headroom
