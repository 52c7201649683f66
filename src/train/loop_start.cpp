#include <algorithm>
#include <cmath>

#include "core/file.h"
#include "core/json.h"
#include "core/parallel.h"
#include "model/budget.h"
#include "train/disk_space.h"
#include "train/host.h"
#include "train/run_directory.h"
#include "train/training.h"

namespace headroom {
Training::Training(const TrainJob& job)
    : job_(job),
      task_(make_task(job.task)),
      rule_(best_rule(*task_, job.eval.best_metric)),
      schedule_(job.train.schedule, job.train.optimizer.lr, job.train.steps),
      evaluates_(job.eval.every > 0 && job.eval.items > 0),
      part_(items_per_part(job.train, job.train.batch)),
      evaluator_(*task_, job.eval.seed, evaluates_ ? job.eval.items : 0,
                 job.eval.batch.value_or(part_)),
      io_(model_io(*task_)),
      resolved_(resolve(job.model, io_)),
      precision_(job.train.precision),
      model_(resolved_, io_, std::max(part_, evaluates_ ? evaluator_.batch() : 1)),
      updater_(model_, job.train, io_, job.train.batch),
      log_(job.quiet) {
  constexpr double kBytesPerSecond = 1e8;  // of a slow disk
  const double bytes = 3.0 * sizeof(float) * static_cast<double>(model_.table().size());
  budget_.emplace(start_, job.time_budget_s, bytes / kBytesPerSecond);
  batch_.shape(task_->shape(), job.train.batch);
  describe();
}

TrainResult Training::run() {
  check_disk();
  start_parameters();
  const NewFile files[] = {{"config.json", job_.config_text}, {"run.json", run_json(record_)}};
  const auto aside = make_run_directory(job_.out, job_.force, files);
  lock_ = RunLock(job_.out);
  return guarded([&] {
    open(aside);
    loop();
  });
}

TrainResult Training::resume() {
  lock_ = RunLock(job_.out);
  const EarlierRun earlier = read_earlier_run(job_.out / "run.json");
  folder_.emplace(job_.out / "checkpoints", job_.run.keep);
  const ResumePoint point = find_resume_point(*folder_, job_, model_.table(),
                                              model_.params().flat(), updater_.optimizer());
  if (point.state) {
    state_ = *point.state;
    saved_step_ = state_.step;
    if (state_.step > job_.train.steps) {
      throw Error(Exit::kUsage, job_.out.string() + ": has taken " + std::to_string(state_.step) +
                                    " steps, train.steps is " + std::to_string(job_.train.steps));
    }
    const bool ended = earlier.exit_reason == "done" || earlier.exit_reason == "patience";
    if (ended && (at_end() || patience_used_up())) return already_finished(earlier);
  } else {
    if (earlier.init_from != record_.init_from) {
      throw Error(Exit::kUsage,
                  job_.out.string() + ": has no checkpoint yet and began " +
                      (earlier.init_from.empty() ? "without --init-from"
                                                 : "with --init-from " + earlier.init_from) +
                      ", which --resume needs again");
    }
    start_parameters();
  }
  check_disk();
  if (!earlier.start.empty()) record_.start = earlier.start;
  record_.init_from = earlier.init_from;
  record_.resumes = earlier.resumes + 1;
  elapsed_before_ = earlier.elapsed_s;
  return guarded([&] {
    reopen(point);
    loop();
  });
}

template <class Work>
TrainResult Training::guarded(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    log_.hide();
    if (error.code() == Exit::kDiverged) write_divergence(error.what());
    finish(error.what(), error.code(), false);
    throw;
  }
  return result_;
}

void Training::check_disk() const {
  require_disk_space(job_.out,
                     checkpoint_needs(model_.table().size(), job_.train, job_.eval, job_.run),
                     job_.run.keep);
}

void Training::start_parameters() {
  if (job_.set_parameters) {
    job_.set_parameters(model_.table(), model_.params().flat());
  } else if (job_.init_from) {
    const safetensors::Archive archive(*job_.init_from);
    load_params(archive, model_.table(), model_.params().flat());
  } else {
    init_params(model_.table(), job_.init_seed, model_.params());
  }
}

void Training::describe() {
  Fields model_fields;
  resolved_.declare(model_fields);
  const auto whole = [](std::uint64_t n) { return json::number(n); };
  const TaskShape shape = task_->shape();
  record_.derived = {
      {"tokens", whole(shape.tokens)},
      {"queries", whole(shape.queries)},
      {"input_dim", whole(shape.input_dim)},
      {"predictions", whole(shape.predictions)},
      {"output_dim", whole(shape.output_dim)},
      {"model", write_fields(model_fields)},
      {"schedule_steps", whole(schedule_.horizon())},
      {"warmup_updates", whole(schedule_.warmup())},
      {"eval_batch", whole(evaluator_.batch())},
  };
  record_.version = job_.version;
  record_.commit = job_.commit;
  record_.command_line = job_.command_line;
  record_.name = job_.name;
  if (job_.init_from) record_.init_from = job_.init_from->string();
  record_.threads = threads();
  record_.precision = precision_text(job_.train.precision);
  record_.budget = model_budget(resolved_, io_).d_h_r;
  record_.parameters = model_.table().size();
  record_.construction = job_.construction;
  record_.start = utc_now();
}

void Training::open(const std::optional<std::filesystem::path>& aside) {
  log_.open(job_.out / "log.txt");
  for (const std::string& note : job_.notes) log_.info(note);
  if (aside) log_.info("moved the earlier run to " + aside->string());
  log_.info(job_.out.string() + ": " + std::to_string(record_.parameters) + " parameters, " +
            std::to_string(job_.train.steps) + " steps of " + std::to_string(job_.train.batch) +
            " items");
  files_.emplace(job_.out, *task_, evaluates_);
  folder_.emplace(job_.out / "checkpoints", job_.run.keep);
}

void Training::reopen(const ResumePoint& point) {
  remove_temporaries(job_.out);
  remove_temporaries(job_.out / "checkpoints");
  log_.open(job_.out / "log.txt", true);
  for (const std::string& note : job_.notes) log_.info(note);
  for (const std::string& problem : point.problems) log_.warn(problem + "; set aside");
  set_damaged_aside(*folder_, point);
  RowsToKeep keep{state_.step, state_.evaluated != 0, {}};
  // A longer run has no row where the earlier one ended off the beat.
  const TrainJob::Earlier& earlier = *job_.resume;
  if (earlier.steps < job_.train.steps && earlier.steps % earlier.log_every != 0) {
    keep.except_row = earlier.steps;
  }
  files_.emplace(job_.out, *task_, evaluates_, point.state ? std::optional(keep) : std::nullopt);
  if (point.state) {
    for (const std::string& name : files_->absent()) {
      log_.warn(name + " was gone, and with it the rows of the steps so far");
    }
  }
  elapsed_before_ = std::max(elapsed_before_, files_->kept_elapsed_s());
  if (const std::filesystem::path config = job_.out / "config.json";
      read_file(config, json::kMaxBytes) != job_.config_text) {
    write_file_atomically(config, job_.config_text);
  }
  if (point.state) {
    const bool has_best = !std::isnan(state_.best_value);
    folder_->resume(state_.step, has_best ? std::optional(state_.best_step) : std::nullopt,
                    point.interim);
  }
  log_.info(job_.out.string() + ": resumed " +
            (point.state ? "after step " + std::to_string(state_.step) : "at the start") + " of " +
            std::to_string(job_.train.steps));
  write_record();
}

TrainResult Training::already_finished(const EarlierRun& earlier) {
  log_.info(job_.out.string() + ": has finished (" + earlier.exit_reason + ") after " +
            std::to_string(state_.step) + " steps; nothing is left to resume");
  result_.reason = earlier.exit_reason;
  result_.directory = job_.out;
  result_.steps = state_.step;
  result_.elapsed_s = earlier.elapsed_s;
  result_.best = best();
  return result_;
}

}  // namespace headroom
