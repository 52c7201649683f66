// What a training run is asked to do and what it reports back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "model/model_config.h"
#include "model/params.h"
#include "tasks/score.h"
#include "tasks/task_config.h"
#include "train/run_record.h"
#include "train/train_config.h"

namespace headroom {

struct TrainJob {
  std::string name;
  TaskConfig task;
  ModelConfig model;  // as given; nulls are resolved for the task
  TrainConfig train;
  EvalConfig eval;
  RunOptions run;
  std::uint64_t init_seed = 0, data_seed = 0;
  std::string config_text;  // config.json

  std::filesystem::path out;  // the run directory to make; its parent must exist
  bool force = false, quiet = false;
  // Initial parameters, instead of drawing them: from a file, or set by a function.
  std::optional<std::filesystem::path> init_from;
  std::function<void(const ParamTable& table, std::span<float> params)> set_parameters;

  // Continues the run in `out`, whose config so far had these values; the rest of it must be as
  // here but for fields without effect on updates that were taken (config/resume.h).
  struct Earlier {
    std::uint64_t steps = 0, log_every = 1;
  };
  std::optional<Earlier> resume;
  // Seconds after which the run ends as by SIGTERM: the last checkpoint is written before they are
  // over.
  std::optional<double> time_budget_s;
  // For tests: asked after each update; true stops the run as a signal does, a foreign exception
  // leaves it as a kill does.
  std::function<bool(std::uint64_t step)> stop_after;

  std::string version, commit;  // of this program, for run.json
  std::vector<std::string> command_line;
  std::optional<json::Value> construction;  // what the parameters were made from, for run.json
  std::vector<std::string> notes;           // lines to log first, such as the choice of threads
};

struct TrainResult {
  Exit exit = Exit::kDone;  // kDone, kStopped or kInterrupted; failures are thrown
  std::string reason;       // as run.json's exit_reason
  std::filesystem::path directory;
  std::uint64_t steps = 0;
  double elapsed_s = 0;
  std::optional<Best> best;
  std::optional<Score> score;  // of the last evaluation
};

}  // namespace headroom
