#include "train/loop.h"

#include <chrono>
#include <cmath>
#include <csignal>
#include <functional>

#include "core/arena.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "model/budget.h"
#include "train/best_rule.h"
#include "train/checkpoint.h"
#include "train/checkpoint_folder.h"
#include "train/evaluate.h"
#include "train/host.h"
#include "train/log.h"
#include "train/progress.h"
#include "train/run_directory.h"
#include "train/run_files.h"
#include "train/schedule.h"
#include "train/signals.h"
#include "train/update.h"

namespace headroom {
namespace {

using Clock = std::chrono::steady_clock;

class Training {
 public:
  explicit Training(const TrainJob& job)
      : job_(job),
        task_(make_task(job.task)),
        rule_(best_rule(*task_, job.eval.best_metric)),
        schedule_(job.train.schedule, job.train.optimizer.lr, job.train.steps),
        evaluates_(job.eval.every > 0 && job.eval.items > 0),
        part_(items_per_part(job.train)),
        evaluator_(*task_, job.eval.seed, evaluates_ ? job.eval.items : 0,
                   job.eval.batch.value_or(part_)),
        io_(model_io(*task_)),
        resolved_(resolve(job.model, io_)),
        model_(resolved_, io_, std::max(part_, evaluates_ ? evaluator_.batch() : 1)),
        updater_(model_, job.train, io_, task_->shape().token_stride, job.train.batch),
        log_(job.quiet) {
    plan_batch();
    start_parameters();
    describe();
  }

  TrainResult run() {
    const NewFile files[] = {{"config.json", job_.config_text}, {"run.json", run_json(record_)}};
    const auto aside = make_run_directory(job_.out, job_.force, files);
    try {
      open(aside);
      loop();
    } catch (const Error& error) {
      log_.hide();
      finish(error.what(), error.code(), false);
      throw;
    }
    return result_;
  }

 private:
  static std::size_t items_per_part(const TrainConfig& c) {
    if (c.accumulate == 0 || c.batch % c.accumulate != 0) {
      throw Error(Exit::kUsage, "train.accumulate: " + std::to_string(c.accumulate) +
                                    " parts do not divide train.batch " + std::to_string(c.batch));
    }
    return c.batch / c.accumulate;
  }

  void plan_batch() {
    const TaskShape shape = task_->shape();
    const auto lay_out = [&](Arena<float>& arena) {
      batch_ = take_batch(arena, shape, job_.train.batch);
    };
    Arena<float> measure;
    lay_out(measure);
    memory_ = Arena<float>(measure.used());
    lay_out(memory_);
  }

  void start_parameters() {
    if (job_.set_parameters) {
      job_.set_parameters(model_.table(), model_.params().flat());
    } else if (job_.init_from) {
      const safetensors::Archive archive(*job_.init_from);
      load_params(archive, model_.table(), model_.params().flat());
    } else {
      init_params(model_.table(), job_.init_seed, model_.params());
    }
  }

  void describe() {
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
    record_.threads = threads();
    record_.budget = model_budget(resolved_, io_).d_h_r;
    record_.parameters = 0;
    for (const ParamRow& row : model_.table().rows()) record_.parameters += row.size;
    record_.construction = job_.construction;
    record_.start = utc_now();
  }

  void open(const std::optional<std::filesystem::path>& aside) {
    log_.open(job_.out / "log.txt");
    for (const std::string& note : job_.notes) log_.info(note);
    if (aside) log_.info("moved the earlier run to " + aside->string());
    log_.info(job_.out.string() + ": " + std::to_string(record_.parameters) + " parameters, " +
              std::to_string(job_.train.steps) + " steps of " + std::to_string(job_.train.batch) +
              " items");
    files_.emplace(job_.out, *task_, evaluates_);
    folder_.emplace(job_.out / "checkpoints", job_.run.keep);
  }

  void loop() {
    bool patience_left = boundary();
    if (evaluates_ && !stop_requested()) {
      files_->write_baselines(evaluate_baselines(*task_, job_.eval.seed, job_.eval.items));
    }
    Progress progress(log_, state_.step, job_.train.steps);
    progress_ = &progress;
    while (state_.step < job_.train.steps && patience_left && !stop_requested()) {
      update();
      patience_left = boundary();
    }
    progress_ = nullptr;
    log_.hide();
    const bool whole = state_.step == job_.train.steps && !evaluation_due();
    if (whole || !patience_left) {
      finish(whole ? "done" : "patience", Exit::kDone, true);
    } else {
      if (saved_step_ != state_.step) save(false);
      const int signal = stop_signal();
      finish(signal_name(signal), signal == SIGINT ? Exit::kInterrupted : Exit::kStopped, true);
    }
  }

  void update() {
    const std::uint64_t s = state_.step + 1;
    const Stage stage = task_->stage(s);
    const TaskShape shape = task_->shape(stage);
    const std::size_t n = job_.train.batch;
    const Batch batch = front_of(batch_, shape);
    sample_batch(*task_, job_.data_seed, Purpose::kTrain, s, 0, stage, batch);
    const double loss = updater_.gradient(batch);
    const double rate = schedule_.rate(s);
    const double norm = updater_.apply(s, loss, rate);
    state_.step = s;
    state_.tokens += n * (shape.tokens + shape.queries);
    state_.loss_sum += loss;
    state_.loss_count += 1;
    state_.evaluated = 0;
    const double mean = state_.loss_sum / static_cast<double>(state_.loss_count);
    const bool full_row = s % job_.run.log_every == 0;
    const bool row = full_row || s == job_.train.steps;
    if (row) {
      files_->train_row({s, mean, rate, norm, state_.tokens, elapsed_s()},
                        task_->train_values(stage));
    }
    if (full_row) {
      // The row of a last step off the beat leaves the sums, as if it had not been written: a run
      // of more steps has none there.
      state_.loss_sum = 0;
      state_.loss_count = 0;
    }
    progress_->update(s, mean, row);
  }

  bool evaluation_due() const {
    const std::uint64_t s = state_.step;
    return evaluates_ && state_.evaluated == 0 &&
           (s % job_.eval.every == 0 || s == job_.train.steps);
  }

  // Between two updates: evaluation and checkpoint, where due. False once patience is used up.
  bool boundary() {
    bool new_best = false, patience_left = true;
    if (evaluation_due()) {
      const std::optional<Score> score = evaluator_.run(model_);
      if (!score) return true;
      new_best = judge(*score);
      patience_left = !job_.eval.patience || state_.patience_used < *job_.eval.patience;
    }
    const std::uint64_t s = state_.step, every = job_.run.checkpoint_every;
    const bool end = s == job_.train.steps || !patience_left;
    if (new_best || end || (s > 0 && every > 0 && s % every == 0)) save(new_best);
    return patience_left;
  }

  // Takes in an evaluation; true if it is a new best.
  bool judge(const Score& score) {
    files_->eval_row(state_.step, score);
    if (!std::isfinite(score.loss.mean)) {
      const std::string bad = first_nonfinite<float>(model_.table(), model_.params().flat());
      throw Error(Exit::kDiverged, "step " + std::to_string(state_.step) +
                                       ": the held-out loss is " + real_text(score.loss.mean) +
                                       (bad.empty() ? "" : ", first in parameter " + bad));
    }
    result_.score = score;
    state_.evaluated = 1;
    const double value = rule_.value(score);
    const bool better = rule_.beats(value, state_.best_value);
    if (better) {
      state_.best_value = value;
      state_.best_step = state_.step;
      state_.patience_used = 0;
    } else {
      state_.patience_used += 1;
    }
    if (progress_ != nullptr) progress_->evaluated(score.loss.mean);
    return better;
  }

  void save(bool is_best) {
    folder_->save(state_.step, is_best, [&](const std::filesystem::path& file) {
      save_checkpoint(file, model_.table(), model_.params().flat(), updater_.optimizer(), state_,
                      job_.config_text);
    });
    saved_step_ = state_.step;
  }

  // The last lines of log.txt and run.json. After an error (`sound` false) these may fail as well,
  // which must not hide it.
  void finish(const std::string& reason, Exit exit, bool sound) {
    result_.exit = exit;
    result_.reason = reason;
    result_.directory = job_.out;
    result_.steps = record_.steps = state_.step;
    result_.elapsed_s = record_.elapsed_s = std::round(elapsed_s() * 1e3) / 1e3;
    if (!std::isnan(state_.best_value)) {
      result_.best = record_.best = Best{rule_.name, state_.best_value, state_.best_step};
    }
    record_.end = utc_now();
    record_.exit_reason = reason;
    record_.exit_code = static_cast<int>(exit);
    const std::string last =
        !saved_step_ ? "no checkpoint" : "last checkpoint " + checkpoint_name(*saved_step_);
    try {
      if (sound) {
        log_.info(reason + " after " + std::to_string(state_.step) + " steps and " +
                  duration_text(result_.elapsed_s) + held_out_text() + ", " + last);
      } else {
        log_.file_only("error: " + reason);  // main() shows it on stderr
        log_.info("ended at step " + std::to_string(state_.step) + ", " + last);
      }
      write_file_atomically(job_.out / "run.json", run_json(record_));
    } catch (const Error&) {
      if (sound) throw;
    }
  }

  std::string held_out_text() const {
    if (!result_.score) return "";
    std::string text = ", held-out loss " + short_text(result_.score->loss.mean);
    if (result_.best) {
      text += ", best " + result_.best->metric + " " + short_text(result_.best->value) +
              " at step " + std::to_string(result_.best->step);
    }
    return text;
  }

  double elapsed_s() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  const TrainJob& job_;
  const Clock::time_point start_ = Clock::now();
  std::unique_ptr<Task> task_;
  BestRule rule_;
  Schedule schedule_;
  bool evaluates_;
  std::size_t part_;  // items in one forward
  Evaluator evaluator_;
  ModelIo io_;
  ModelConfig resolved_;
  Model<float> model_;
  Updater<float> updater_;
  Log log_;
  Arena<float> memory_;
  Batch batch_;
  TrainState state_;
  RunRecord record_;
  TrainResult result_;
  std::optional<RunFiles> files_;
  std::optional<CheckpointFolder> folder_;
  std::optional<std::uint64_t> saved_step_;
  Progress* progress_ = nullptr;
};

}  // namespace

TrainResult train(const TrainJob& job) {
  install_signal_handlers();
  flush_denormals();
  return Training(job).run();
}

}  // namespace headroom
