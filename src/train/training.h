// One training run while it runs; private to loop.cpp and loop_start.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "baselines/trained.h"
#include "train/best_rule.h"
#include "train/checkpoint.h"
#include "train/checkpoint_folder.h"
#include "train/divergence.h"
#include "train/evaluate.h"
#include "train/log.h"
#include "train/progress.h"
#include "train/resume.h"
#include "train/run_files.h"
#include "train/run_lock.h"
#include "train/run_record.h"
#include "train/schedule.h"
#include "train/time_budget.h"
#include "train/train_job.h"
#include "train/update.h"

namespace headroom {

class Training {
 public:
  explicit Training(const TrainJob& job);
  TrainResult run();     // in a new run directory
  TrainResult resume();  // in that of an earlier process

 private:
  using Clock = std::chrono::steady_clock;
  enum class Save { kRegular, kBest, kInterim };

  // loop_start.cpp: before the first update.
  void check_disk() const;
  void start_parameters();
  void describe();
  void open(const std::optional<std::filesystem::path>& aside);
  void reopen(const ResumePoint& point);
  TrainResult already_finished(const EarlierRun& earlier);
  template <class Work>
  TrainResult guarded(const Work& work);  // an error ends up in run.json and log.txt too

  // loop.cpp
  void loop();
  void update();
  bool boundary();
  bool judge(const Score& score);
  void save(Save kind);
  void write_record();
  void write_divergence(const std::string& what);
  void finish(const std::string& reason, Exit exit, bool sound);
  std::string held_out_text() const;
  std::string training_verdict();
  std::optional<Best> best() const;

  bool evaluation_due() const {
    const std::uint64_t s = state_.step;
    return evaluates_ && state_.evaluated == 0 &&
           (s % job_.eval.every == 0 || s == job_.train.steps);
  }

  bool at_end() const { return state_.step == job_.train.steps && !evaluation_due(); }
  bool baselines_due() const { return evaluates_ && !files_->has_baselines(); }
  bool patience_used_up() const {
    return job_.eval.patience && state_.patience_used >= *job_.eval.patience;
  }

  double elapsed_s() const {
    return elapsed_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
  }

  const TrainJob& job_;
  const Clock::time_point start_ = Clock::now();
  double elapsed_before_ = 0;  // in the processes before this one
  RunLock lock_;
  std::optional<TimeBudget> budget_;
  std::unique_ptr<Task> task_;
  BestRule rule_;
  Schedule schedule_;
  bool evaluates_;
  std::size_t part_;  // items in one forward
  Evaluator evaluator_;
  ModelIo io_;
  ModelConfig resolved_;
  PrecisionInUse precision_;
  Model<float> model_;
  Updater<float> updater_;
  Log log_;
  OwnedBatch batch_;
  TrainState state_;
  RecentUpdates recent_;
  RunRecord record_;
  TrainResult result_;
  std::optional<RunFiles> files_;
  std::optional<CheckpointFolder> folder_;
  std::optional<std::uint64_t> saved_step_;
  Progress* progress_ = nullptr;
  std::optional<Reference> reference_;  // the baseline to beat, once scored
  std::string verdict_;
};

}  // namespace headroom
