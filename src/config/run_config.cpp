#include "config/run_config.h"

namespace headroom {

void SeedsConfig::declare(Fields& f) {
  f.integer("init", init, {}, "Seed of the initial parameters; null = seed.");
  f.integer("data", data, {}, "Seed of the training data; null = seed.");
}

void RunConfig::declare(Fields& f) {
  f.text("name", name,
         "Name of the run, the first part of its folder's name: letters, digits, . _ and -.");
  f.integer("seed", seed, {},
            "Every random stream is a pure function of (seed, purpose, step, item).");
  f.section("seeds", seeds, "Seeds of its own for a part, to vary one and hold the other.");
  f.section("task", task, "What the model is to learn.");
  f.section("model", model, "The transformer.");
  f.section("train", train, "Training.").alias({"training", "trainer"});
  f.section("eval", eval, "Evaluation on a held-out stream.").alias({"evaluation", "validation"});
  f.section("run", run, "Logs and checkpoints; without effect on the numbers.").alias({"logging"});
}

}  // namespace headroom
