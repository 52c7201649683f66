#include "baselines/two_layer_network.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "baselines/makers.h"
#include "tasks/in_context.h"

namespace headroom {

namespace {

// As Garg et al. train it on the k examples of each position: 100 hidden units, 100 steps of Adam
// at rate 5e-3 on at most 100 examples drawn anew each step; 0 without examples.
constexpr Eigen::Index kHidden = 100, kBatch = 100;
constexpr int kSteps = 100;
constexpr float kRate = 5e-3f, kBeta1 = 0.9f, kBeta2 = 0.999f, kEpsilon = 1e-8f;

using Network = TwoLayerNetwork<float>;

// Adam (Kingma and Ba 2015).
class Adam {
 public:
  explicit Adam(Eigen::Index n) : m_(Network::Vector::Zero(n)), v_(Network::Vector::Zero(n)) {}

  void step(Network::Vector& parameters, const Network::Vector& gradient) {
    power1_ *= kBeta1;
    power2_ *= kBeta2;
    m_ = kBeta1 * m_ + (1 - kBeta1) * gradient;
    v_ = kBeta2 * v_ + (1 - kBeta2) * gradient.cwiseAbs2();
    parameters.array() -=
        kRate / (1 - power1_) * m_.array() / ((v_.array() / (1 - power2_)).sqrt() + kEpsilon);
  }

 private:
  Network::Vector m_, v_;
  float power1_ = 1, power2_ = 1;
};

class NetworkByAdam final : public Baseline {
 public:
  NetworkByAdam(std::uint64_t seed, Stop stop) : seed_(seed), stop_(std::move(stop)) {}

  void predict(std::size_t item, View<const float, 2> input, View<const float, 2>,
               View<float, 2> output) const override {
    const Prompt prompt = read_prompt(input);
    const auto n = static_cast<Eigen::Index>(prompt.x.rows);
    const auto d = static_cast<Eigen::Index>(prompt.x.cols);
    Network::Matrix x(d, n);
    Network::Vector y(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto row = static_cast<std::size_t>(i);
      x.col(i) = Eigen::Map<const Eigen::VectorXf>(prompt.x.row(row), d);
      y(i) = prompt.y(row, 0);
    }
    Random random(seed_, Purpose::kBaseline, kNetworkStep, item);
    const auto first = static_cast<Eigen::Index>(first_asked(prompt, output));
    output.data[0] = 0;
    for (Eigen::Index k = std::max<Eigen::Index>(first, 1); k < n; ++k) {
      output.data[k - first] = asked_to_stop(stop_) ? 0 : answer(random, x, y, k);
    }
  }

 private:
  static float answer(Random& random, const Network::Matrix& x, const Network::Vector& y,
                      Eigen::Index k) {
    Network network(x.rows(), kHidden);
    network.draw(random);
    Adam adam(network.parameters().size());
    Network::Vector gradient, wanted = y.head(k);
    Network::Matrix examples = x.leftCols(k);
    std::vector<Eigen::Index> order(static_cast<std::size_t>(k));
    std::iota(order.begin(), order.end(), 0);
    for (int step = 0; step < kSteps; ++step) {
      if (k > kBatch) {
        examples.resize(x.rows(), kBatch);
        wanted.resize(kBatch);
        for (Eigen::Index i = 0; i < kBatch; ++i) {
          const auto left = static_cast<std::uint32_t>(k - i);
          std::swap(order[static_cast<std::size_t>(i)],
                    order[static_cast<std::size_t>(i) + random.below(left)]);
          examples.col(i) = x.col(order[static_cast<std::size_t>(i)]);
          wanted(i) = y(order[static_cast<std::size_t>(i)]);
        }
      }
      network.loss_gradient(examples, wanted, gradient);
      adam.step(network.parameters(), gradient);
    }
    return network.value(x.col(k));
  }

  std::uint64_t seed_;
  Stop stop_;
};

}  // namespace

std::unique_ptr<Baseline> make_two_layer_network(const BaselineSetting& setting) {
  return std::make_unique<NetworkByAdam>(setting.seed, setting.stop);
}

}  // namespace headroom
