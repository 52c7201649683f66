// A run that takes milliseconds.
#pragma once

#include "temporary_folder.h"
#include "train/loop.h"

namespace headroom {

inline TrainJob small_job(const std::filesystem::path& out) {
  TrainJob job;
  job.name = "small";
  job.task.dim = 4;
  job.task.points = 5;
  job.model.width = 4;
  job.model.attention.heads = 2;
  job.model.ffn.width = 8;
  job.train.steps = 7;
  job.train.batch = 32;
  job.train.schedule.warmup = 2;
  job.eval.every = 3;
  job.eval.items = 50;
  job.run.log_every = 2;
  job.run.checkpoint_every = 3;
  job.run.keep = 10;
  job.config_text = "{\"name\": \"small\"}\n";
  job.out = out;
  job.quiet = true;
  job.version = "0.0.0";
  job.commit = "abc";
  job.command_line = {"headroom", "train", "a \"b\".json"};
  return job;
}

inline TrainJob small_regression(const std::filesystem::path& out) {
  TrainJob job = small_job(out);
  job.task = {};
  job.task.type = TaskType::kLinearRegression;
  job.task.dim = 3;
  job.task.points = 4;
  job.task.curriculum =
      CurriculumConfig{.dims = Ramp{.start = 2, .end = 3, .step = 1, .every = 2},
                       .points = Ramp{.start = 2, .end = 4, .step = 1, .every = 3}};
  job.model.width = 6;
  job.model.attention.mask = Mask::kCausal;
  job.model.positions.type = PositionsType::kLearned;
  return job;
}

inline TrainJob small_cross(const std::filesystem::path& out) {
  TrainJob job = small_job(out);
  job.task.query = QueryMode::kSeparate;
  job.task.queries = 3;
  job.model.attention.kind = AttentionKind::kCross;
  return job;
}

// Without its elapsed_s column.
inline std::string timeless(const std::string& csv) {
  std::string result;
  std::size_t column = 0;
  for (const char c : csv) {
    if (c == ',') ++column;
    if (c == '\n') column = 0;
    if (column != 5) result += c;
  }
  return result;
}

}  // namespace headroom
