#include "train/resume.h"

#include <cmath>
#include <filesystem>

#include "core/error.h"

namespace headroom {
namespace {

// Whether a run that never stopped would have saved at this state: on the beat, at the end, at a
// new best. At the end of patience too, but then nothing follows.
bool is_regular(const TrainState& state, const TrainJob& job) {
  const std::uint64_t s = state.step, every = job.run.checkpoint_every;
  return (s > 0 && every > 0 && s % every == 0) || s == job.train.steps ||
         (state.evaluated != 0 && state.best_step == s && !std::isnan(state.best_value));
}

}  // namespace

ResumePoint find_resume_point(const CheckpointFolder& folder, const TrainJob& job,
                              const ParamTable& table, std::span<float> params,
                              Optimizer<float>& optimizer) {
  ResumePoint point;
  const std::vector<std::uint64_t> steps = folder.steps();
  const std::uint64_t every = job.run.checkpoint_every;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (point.state && *step > 0 && every > 0 && *step % every == 0) continue;  // on the beat
    try {
      const safetensors::Archive archive(folder.file(*step));
      if (!point.state) {
        const TrainState state = load_checkpoint(archive, table, params, optimizer);
        if (state.step != *step) {
          throw Error(Exit::kCorrupt, archive.path().string() + ": is a checkpoint of step " +
                                          std::to_string(state.step));
        }
        point.state = state;
      }
      if (!is_regular(checkpoint_state(archive), job)) point.interim.push_back(*step);
    } catch (const Error& error) {
      if (error.code() != Exit::kCorrupt) throw;
      if (point.state) continue;  // an old one that nothing needs
      point.problems.emplace_back(error.what());
      point.damaged.push_back(*step);
    }
  }
  if (!point.state && !point.problems.empty()) {
    throw Error(Exit::kCorrupt, point.problems.front() +
                                    "; no good checkpoint is left to resume "
                                    "from, --force starts the run again");
  }
  return point;
}

void set_damaged_aside(const CheckpointFolder& folder, const ResumePoint& point) {
  for (const std::uint64_t step : point.damaged) {
    const std::filesystem::path file = folder.file(step);
    std::error_code problem;
    std::filesystem::rename(file, file.string() + ".damaged", problem);
    if (problem) {
      throw Error(Exit::kFile, file.string() + ": cannot rename: " + problem.message());
    }
  }
}

}  // namespace headroom
