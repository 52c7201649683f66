// The `train`, `eval` and `run` sections of the config.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/fields.h"

namespace headroom {

enum class Precision { kFloat32, kBfloat16, kAuto };
inline constexpr std::array kPrecisions{
    Choice<Precision>{Precision::kFloat32, "float32",
                      "single precision throughout; sums of losses and norms in double"},
    Choice<Precision>{Precision::kBfloat16, "bfloat16",
                      "the linear maps' products, forward and backward, take weights, activations "
                      "and gradients rounded to bfloat16 and sum in float32; all else is float32, "
                      "the parameters too. Needs a CPU with AVX-512 BF16"},
    Choice<Precision>{Precision::kAuto, "auto", "bfloat16 where the CPU has it, else float32"},
};
// What `auto` stands for on this CPU.
Precision chosen(Precision precision);
// Its name, and whether it is emulated.
std::string precision_text(Precision precision);
// From now on the products of this process are of this precision. Throws Error(kUsage) for bfloat16
// on a CPU without it, unless the environment has HEADROOM_EMULATE_BFLOAT16=1: then operands are
// rounded as bfloat16 and multiplied as float32. Before models are made: their memory depends on
// it.
void use_precision(Precision precision);
// The same as a member that is made before a model is.
struct PrecisionInUse {
  explicit PrecisionInUse(Precision precision) { use_precision(precision); }
};

enum class OptimizerType { kAdamW, kSgd };
inline constexpr std::array kOptimizerTypes{
    Choice<OptimizerType>{OptimizerType::kAdamW, "adamw",
                          "Adam with decoupled weight decay (Loshchilov and Hutter 2019)"},
    Choice<OptimizerType>{
        OptimizerType::kSgd, "sgd",
        "stochastic gradient descent, with heavy-ball momentum where `momentum` is above 0"},
};

enum class ScheduleType { kConstant, kLinear, kCosine };
inline constexpr std::array kScheduleTypes{
    Choice<ScheduleType>{ScheduleType::kConstant, "constant", "lr after the warm-up"},
    Choice<ScheduleType>{ScheduleType::kLinear, "linear",
                         "a straight line from lr to floor * lr at the horizon"},
    Choice<ScheduleType>{ScheduleType::kCosine, "cosine",
                         "half a cosine from lr to floor * lr at the horizon"},
};

struct OptimizerConfig {
  OptimizerType type = OptimizerType::kAdamW;
  double lr = 0.01;
  std::array<double, 2> betas{0.9, 0.95};
  double eps = 1e-8;
  double momentum = 0;
  double weight_decay = 0;
  void declare(Fields& f);
};

struct ScheduleConfig {
  ScheduleType type = ScheduleType::kCosine;
  double warmup = 0.05;
  double floor = 0;
  std::optional<std::uint64_t> steps;
  void declare(Fields& f);
};

inline constexpr std::uint64_t kMaxUpdates = 1'000'000'000'000;

struct TrainConfig {
  std::uint64_t steps = 2000;
  std::size_t batch = 256;
  Precision precision = Precision::kFloat32;
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  std::optional<double> clip_norm;
  std::size_t accumulate = 1;
  std::vector<std::string> freeze;
  void declare(Fields& f);
};

struct EvalConfig {
  std::uint64_t every = 1000;
  std::size_t items = 5120;
  std::optional<std::size_t> batch;
  std::uint64_t seed = 0;
  std::string best_metric = "loss";
  std::optional<std::uint64_t> patience;
  std::vector<std::string> baselines{"default"};
  void declare(Fields& f);
};

struct RunOptions {  // the `run` section
  std::uint64_t log_every = 100, checkpoint_every = 5000;
  std::size_t keep = 2;
  void declare(Fields& f);
};

}  // namespace headroom
