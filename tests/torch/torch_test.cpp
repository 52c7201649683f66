// Our arithmetic against values frozen from PyTorch in float64 (scripts/freeze_torch.py makes
// them): the whole step, forward, loss, gradients and update, through the same function as
// `headroom step`.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "config/read.h"
#include "train/optimizer.h"
#include "train/safetensors.h"
#include "train/step.h"
#include "train/temporary_folder.h"

namespace headroom::torch_test {

namespace fs = std::filesystem;

std::vector<std::string> frozen_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(HEADROOM_TORCH_DATA))
    if (!entry.path().stem().string().starts_with("optimizer_"))
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

fs::path frozen_path(const std::string& name) {
  return fs::path(HEADROOM_TORCH_DATA) / (name + ".safetensors");
}

std::vector<double> values_of(const safetensors::Archive& archive, const std::string& name) {
  const safetensors::Tensor* tensor = archive.find(name);
  EXPECT_NE(tensor, nullptr) << name << " is missing in " << archive.path();
  if (tensor == nullptr) return {};
  std::vector<double> values(tensor->size());
  safetensors::copy_values<double>(*tensor, values);
  return values;
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (double v : values) largest = std::max(largest, std::abs(v));
  return largest;
}

void expect_close(const std::vector<double>& got, const std::vector<double>& want, double allowed,
                  const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], allowed) << what << " at " << i;
}

class Frozen : public ::testing::TestWithParam<std::string> {
 protected:
  Frozen() : torch_(frozen_path(GetParam())) {}

  // Our step from the same parameters on the same batch.
  safetensors::Archive ours(bool float64) {
    const std::string config_text = *torch_.metadata("config");
    const RunConfig config = read_run_config_text(config_text);
    StepJob job;
    job.task = config.task;
    job.model = config.model;
    job.train = config.train;
    job.config_text = config_text;
    job.load = torch_.path();
    job.float64 = float64;
    job.dump = folder_ / "ours.safetensors";
    run_steps(job);
    return safetensors::Archive(job.dump);
  }

  TemporaryFolder folder_;
  safetensors::Archive torch_;
};

TEST_P(Frozen, DoubleAgreesToTenDigits) {
  const safetensors::Archive step = ours(true);
  std::size_t compared = 0;
  for (const safetensors::Tensor& tensor : torch_.tensors()) {
    if (tensor.name.starts_with("batch.")) continue;
    expect_close(values_of(step, tensor.name), values_of(torch_, tensor.name), 1e-10, tensor.name);
    ++compared;
  }
  EXPECT_GT(compared, 10u);
}

TEST_P(Frozen, FloatFollowsToFiveDigits) {
  const safetensors::Archive step = ours(false);
  double model_largest = 0;
  for (const safetensors::Tensor& tensor : torch_.tensors())
    if (tensor.name.starts_with("grad."))
      model_largest = std::max(model_largest, largest_of(values_of(torch_, tensor.name)));
  for (const safetensors::Tensor& tensor : torch_.tensors()) {
    const bool gradient = tensor.name.starts_with("grad.");
    if (!gradient && tensor.name != "output" && tensor.name != "loss") continue;
    const std::vector<double> want = values_of(torch_, tensor.name);
    // A lone scalar sums over every row and may cancel further.
    // Under softmax the key bias has no effect: its gradient is 0 in theory and rounding in
    // practice.
    const bool without_effect =
        tensor.name.ends_with("attention.key.bias") && largest_of(want) < 1e-12;
    const double scale =
        !gradient ? largest_of(want)
        : without_effect
            ? 0.1 * model_largest
            : std::max(largest_of(want), (want.size() == 1 ? 3e-2 : 1e-3) * model_largest);
    expect_close(values_of(step, tensor.name), want, 1e-5 * scale, tensor.name);
  }
}

INSTANTIATE_TEST_SUITE_P(Torch, Frozen, ::testing::ValuesIn(frozen_names()),
                         [](const auto& variant) { return variant.param; });

// Five updates with given gradients: tensor by tensor, in float and in double.
template <class S>
void compare_optimizer(const std::string& name, double allowed) {
  const safetensors::Archive torch(frozen_path(name));
  const RunConfig config = read_run_config_text(*torch.metadata("config"));
  const std::string decays = *torch.metadata("decay");
  ParamTable table;
  for (const safetensors::Tensor& tensor : torch.tensors()) {
    if (!tensor.name.starts_with("param.")) continue;
    const std::string param = tensor.name.substr(6);
    table.add(
        {param, tensor.shape, {}, decays.find('"' + param + '"') != std::string::npos, 0, 0, 0});
  }
  std::vector<S> params(table.size()), grads(table.size());
  for (const ParamRow& row : table.rows()) {
    const std::vector<double> start = values_of(torch, "param." + row.name);
    for (std::size_t i = 0; i < row.size; ++i) params[row.offset + i] = static_cast<S>(start[i]);
  }
  Optimizer<S> optimizer(config.train.optimizer, table);
  for (std::uint64_t t = 1; t <= 5; ++t) {
    for (const ParamRow& row : table.rows()) {
      const std::vector<double> all = values_of(torch, "grad." + row.name);
      for (std::size_t i = 0; i < row.size; ++i)
        grads[row.offset + i] = static_cast<S>(all[(t - 1) * row.size + i]);
    }
    ASSERT_TRUE(optimizer.step(t, config.train.optimizer.lr, 1.0, params, grads));
    for (const ParamRow& row : table.rows()) {
      const std::vector<double> all = values_of(torch, "updated." + row.name);
      for (std::size_t i = 0; i < row.size; ++i)
        EXPECT_NEAR(static_cast<double>(params[row.offset + i]), all[(t - 1) * row.size + i],
                    allowed)
            << row.name << " after update " << t;
    }
  }
}

TEST(TorchOptimizer, AdamW) {
  compare_optimizer<double>("optimizer_adamw", 1e-12);
  compare_optimizer<float>("optimizer_adamw", 1e-6);
}
TEST(TorchOptimizer, Sgd) {
  compare_optimizer<double>("optimizer_sgd", 1e-12);
  compare_optimizer<float>("optimizer_sgd", 1e-6);
}

}  // namespace headroom::torch_test
