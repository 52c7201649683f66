#include "train/train_config.h"

#include <cstdlib>
#include <limits>
#include <string_view>

#include "core/error.h"
#include "core/numbers.h"
#include "kernels/matmul.h"

namespace headroom {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kMaxBatch = 1 << 20;

bool emulates_bfloat16() {
  const char* const emulate = std::getenv("HEADROOM_EMULATE_BFLOAT16");
  return emulate != nullptr && std::string_view(emulate) == "1";
}

}  // namespace

std::string precision_text(Precision precision) {
  const bool emulated = chosen(precision) == Precision::kBfloat16 && emulates_bfloat16();
  return name_in(kPrecisions, chosen(precision)) + std::string(emulated ? " (emulated)" : "");
}

Precision chosen(Precision precision) {
  if (precision != Precision::kAuto) return precision;
  return kernels::has_bfloat16() ? Precision::kBfloat16 : Precision::kFloat32;
}

void use_precision(Precision precision) {
  using kernels::Operands;
  if (chosen(precision) == Precision::kFloat32) {
    kernels::set_operands(Operands::kFloat32);
    return;
  }
  const bool emulated = emulates_bfloat16();
  if (!emulated && !kernels::has_bfloat16())
    refuse(
        "train.precision = bfloat16: this CPU has no AVX-512 BF16 instructions; take float32, or "
        "auto for the fastest that a CPU has");
  kernels::set_operands(emulated ? Operands::kRoundedToBfloat16 : kernels::bfloat16_operands());
}

void OptimizerConfig::declare(Fields& f) {
  f.choice("type", type, kOptimizerTypes, "The update rule.").alias({"name"});
  f.real("lr", lr, {0, kInfinity}, "Learning rate after the warm-up.")
      .alias({"learning_rate", "rate", "step_size", "max_lr"});
  f.only_for({"adamw"});
  f.reals("betas", betas, {0, 1, false, true},
          "Decay of the running mean of the gradient and of its square.")
      .alias({"beta", "beta1", "beta2"});
  f.real("eps", eps, {kLeastEps, kInfinity}, "Added to the root of the mean square.")
      .alias({"epsilon"});
  f.only_for({"sgd"});
  f.real("momentum", momentum, {0, 1, false, true},
         "m = momentum * m + gradient, and the update is lr * m; 0 = plain gradient descent.");
  f.only_for({});
  f.real("weight_decay", weight_decay, {0, kInfinity},
         "Decay of matrices (no biases, norms or positions): decoupled with adamw, added to the "
         "gradient with sgd.")
      .alias({"wd", "decay", "l2"});
}

void ScheduleConfig::declare(Fields& f) {
  f.choice("type", type, kScheduleTypes, "Shape of the learning rate after the warm-up.");
  f.real("warmup", warmup, {0, static_cast<double>(kMaxUpdates)},
         "Updates in which the rate rises to lr: below 1 a share of the horizon, rounded to "
         "nearest, else a whole "
         "number of updates; fewer than the horizon (a horizon of 0 has none).")
      .alias({"warmup_steps", "warm_up", "warmup_ratio"});
  f.only_for({"linear", "cosine"});
  f.real("floor", floor, {0, 1}, "Share of lr at and beyond the horizon.").alias({"min_lr", "end"});
  f.only_for({});
  f.integer("steps", steps, {1, kMaxUpdates}, "The horizon, in updates; null = train.steps.")
      .alias({"horizon", "total_steps", "max_steps"});
}

void TrainConfig::declare(Fields& f) {
  f.integer("steps", steps, {0, kMaxUpdates}, "Updates; 0 evaluates and saves the initial model.")
      .alias({"n_steps", "max_steps", "num_steps", "iterations", "max_iters", "updates"});
  f.integer("batch", batch, {1, kMaxBatch}, "Sequences per update.").alias({"batch_size", "bs"});
  f.choice("precision", precision, kPrecisions, "Arithmetic of forward and backward.")
      .alias({"dtype"});
  f.section("optimizer", optimizer, "The update rule.").alias({"optim"});
  f.section("schedule", schedule, "The learning rate over time.")
      .alias({"scheduler", "lr_schedule"});
  f.real("clip_norm", clip_norm, {0, kInfinity, true},
         "Largest norm of the whole averaged gradient; null = no clipping.")
      .alias({"clip", "grad_clip", "max_grad_norm", "gradient_clip"});
  f.integer("accumulate", accumulate, {1, kMaxBatch},
            "Equal parts in which a batch is computed; it must divide batch.")
      .alias({"gradient_accumulation", "accumulation_steps", "accum"});
  f.texts("freeze", freeze,
          "Parameters that stay as they start: globs of their names, such as "
          "\"layers.0.attention.*\"; `headroom check` lists the names.")
      .alias({"frozen", "freeze_parameters"});
}

void EvalConfig::declare(Fields& f) {
  f.integer("every", every, {1, kMaxUpdates},
            "Updates between evaluations; there is always one before the first update and one at "
            "the end.")
      .alias({"eval_every", "interval"});
  f.integer("items", items, {1, 1ull << 32}, "Held-out sequences, the same ones every time.")
      .alias({"n_items", "samples", "n_samples"});
  f.integer("batch", batch, {1, kMaxBatch},
            "Sequences at a time, which changes results by rounding alone; null = train.batch / "
            "train.accumulate.")
      .alias({"batch_size"});
  f.integer("seed", seed, {}, "Seed of the held-out stream; it does not follow the config's seed.");
  f.text("best_metric", best_metric, "Column of eval.csv by which the best checkpoint is chosen.")
      .alias({"metric"});
  f.integer("patience", patience, {1, kMaxUpdates},
            "Evaluations without a new best after which training stops; null = never.")
      .alias({"early_stopping"});
  f.texts("baselines", baselines,
          "Predictors to compare with: \"default\" (all quick ones), \"all\", or names that "
          "`headroom describe baselines` lists.")
      .alias({"baseline"});
}

void RunOptions::declare(Fields& f) {
  f.integer("log_every", log_every, {1, kMaxUpdates}, "Updates per row of train.csv.")
      .alias({"log_interval"});
  f.integer("checkpoint_every", checkpoint_every, {1, kMaxUpdates},
            "Updates between checkpoints; there is always one at the end.")
      .alias({"save_every", "checkpoint_interval", "save_steps"});
  f.integer("keep", keep, {1, 1'000'000},
            "Checkpoints kept, the newest ones; the best one is kept besides.");
}

}  // namespace headroom
