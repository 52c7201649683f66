#include "train/loop.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <limits>

#include "baselines/trained.h"
#include "core/file.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "core/spelling.h"
#include "train/divergence.h"
#include "train/gradient.h"
#include "train/host.h"
#include "train/signals.h"
#include "train/training.h"

namespace headroom {

void Training::loop() {
  const std::uint64_t first = state_.step, was_evaluated = state_.evaluated;
  bool patience_left = boundary();
  if (baselines_due() && !stop_requested()) {
    const std::optional<std::vector<BaselineScore>> scores =
        evaluate_baselines(*task_, job_.eval.seed, job_.eval.items,
                           {.names = job_.eval.baselines, .stop = stop_requested});
    if (scores) {
      files_->write_baselines(*scores);
      reference_ = find_reference(job_.task.type, *scores);
    }
  }
  Progress progress(log_, state_.step, job_.train.steps);
  progress_ = &progress;
  const auto ask = [&] { return job_.stop_after && job_.stop_after(state_.step); };
  bool asked = ask();
  while (state_.step < job_.train.steps && patience_left && !asked && !stop_requested()) {
    update();
    patience_left = boundary();
    asked = ask();
  }
  progress_ = nullptr;
  log_.hide();
  const bool whole = at_end() && !baselines_due();
  if (whole || !patience_left) {
    verdict_ = training_verdict();
    finish(whole ? "done" : "patience", Exit::kDone, true);
  } else {
    const int signal = stop_signal();
    const bool over = signal == 0 && budget_->over();  // a quick save may move the deadline
    if (saved_step_ != state_.step) save(Save::kInterim);
    if (over && state_.step == first && was_evaluated == state_.evaluated) {
      log_.warn("the time budget was over before a step or an evaluation was done");
    }
    finish(signal != 0 ? signal_name(signal)
           : over      ? "time budget"
                       : "stopped",
           signal == SIGINT ? Exit::kInterrupted : Exit::kStopped, true);
  }
}

void Training::update() {
  const Clock::time_point begin = Clock::now();
  const std::uint64_t s = state_.step + 1;
  const Stage stage = task_->stage(s);
  const TaskShape shape = task_->shape(stage);
  const std::size_t n = job_.train.batch;
  const Batch batch = front_of(batch_.views, shape);
  sample_batch(*task_, job_.data_seed, Purpose::kTrain, s, 0, stage, batch);
  const double loss = updater_.gradient(batch);
  const double rate = schedule_.rate(s);
  recent_.add({s, loss, rate, std::numeric_limits<double>::quiet_NaN()});
  const double norm = updater_.apply(s, loss, rate);
  recent_.last().grad_norm = norm;
  budget_->took_step(std::chrono::duration<double>(Clock::now() - begin).count());
  state_.step = s;
  state_.tokens += n * shape.all_tokens();
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

// Between two updates: evaluation and checkpoint, where due. False once patience is used up.
bool Training::boundary() {
  bool new_best = false, evaluated = false;
  if (evaluation_due()) {
    const std::optional<Score> score =
        evaluator_.run(model_, [&](double seconds) { budget_->took_step(seconds); });
    if (!score) return true;
    new_best = judge(*score);
    evaluated = true;
  }
  const std::uint64_t s = state_.step, every = job_.run.checkpoint_every;
  const bool end = s == job_.train.steps || patience_used_up();
  const bool due = new_best || end || (s > 0 && every > 0 && s % every == 0);
  // A run that goes on has the checkpoint of its first step already.
  if (due && (evaluated || saved_step_ != s)) save(new_best ? Save::kBest : Save::kRegular);
  return !patience_used_up();
}

// Takes in an evaluation; true if it is a new best.
bool Training::judge(const Score& score) {
  files_->eval_row(state_.step, score);
  if (!std::isfinite(score.loss.mean)) {
    const std::string bad = first_nonfinite<float>(model_.table(), model_.params().flat());
    throw Error(Exit::kDiverged, "step " + std::to_string(state_.step) + ": the held-out loss is " +
                                     real_text(score.loss.mean) +
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

void Training::save(Save kind) {
  const Clock::time_point begin = Clock::now();
  files_->sync();  // a checkpoint never stands without the rows before it
  const auto write = [&](const std::filesystem::path& file) {
    save_checkpoint(file, model_.table(), model_.params().flat(), updater_.optimizer(), state_,
                    job_.config_text);
  };
  if (kind == Save::kInterim) {
    folder_->save_interim(state_.step, write);
  } else {
    folder_->save(state_.step, kind == Save::kBest, write);
  }
  saved_step_ = state_.step;
  write_record();
  budget_->took_checkpoint(std::chrono::duration<double>(Clock::now() - begin).count());
}

std::optional<Best> Training::best() const {
  if (std::isnan(state_.best_value)) return std::nullopt;
  return Best{rule_.name, state_.best_value, state_.best_step};
}

void Training::write_record() {
  record_.steps = state_.step;
  record_.elapsed_s = std::round(elapsed_s() * 1e3) / 1e3;
  record_.best = best();
  write_file_atomically(job_.out / "run.json", run_json(record_));
}

// After an error that says what was not finite and where: divergence.json, and how to have the
// update again. The run's own error comes first, whatever fails here.
void Training::write_divergence(const std::string& what) {
  const bool in_update = !recent_.empty() && recent_.last().step == state_.step + 1;
  if (in_update && std::isnan(recent_.last().grad_norm)) {
    const std::span<const float> grads = model_.grads().flat();
    recent_.last().grad_norm = GradientMeter<float>(grads.size()).measure(grads).norm;
  }
  std::optional<Batch> items;
  if (in_update)
    items = front_of(batch_.views, task_->shape(task_->stage(recent_.last().step))).range(0, part_);
  const std::string checkpoint =
      saved_step_ ? "checkpoints/" + checkpoint_name(*saved_step_) : std::string();
  std::string again;
  if (in_update && (saved_step_ || (!job_.init_from && !job_.set_parameters))) {
    const std::string step = std::to_string(recent_.last().step);
    again = "headroom step " + shell_word((job_.out / "config.json").string()) +
            (saved_step_ ? " --load " + shell_word((job_.out / checkpoint).string()) : "") +
            " --at " + step + " --dump update-" + step + ".safetensors";
  }
  try {
    write_file_atomically(job_.out / kDivergenceFile,
                          json::write(divergence_value(state_.step + (in_update ? 1 : 0), what,
                                                       again, checkpoint, recent_, model_, items)) +
                              "\n");
    log_.info((job_.out / kDivergenceFile).string() + " holds the last updates and what was large" +
              (again.empty() ? "" : "; the same update again: " + again));
  } catch (const Error& error) {
    log_.warn(error.what());
  }
}

// The last lines of log.txt and run.json. After an error (`sound` false) these may fail as well,
// which must not hide it.
void Training::finish(const std::string& reason, Exit exit, bool sound) {
  result_.exit = exit;
  result_.reason = reason;
  result_.directory = job_.out;
  result_.steps = state_.step;
  result_.elapsed_s = std::round(elapsed_s() * 1e3) / 1e3;
  result_.best = best();
  record_.end = utc_now();
  record_.exit_reason = reason;
  record_.exit_code = static_cast<int>(exit);
  const std::string last =
      !saved_step_ ? "no checkpoint" : "last checkpoint " + checkpoint_name(*saved_step_);
  try {
    if (sound) {
      log_.info(reason + " after " + std::to_string(state_.step) + " steps and " +
                duration_text(result_.elapsed_s) + held_out_text() + verdict_ + ", " + last);
    } else {
      log_.file_only("error: " + reason);  // main() shows it on stderr
      log_.info("ended at step " + std::to_string(state_.step) + ", " + last);
    }
    write_record();
  } catch (const Error&) {
    if (sound) throw;
  }
}

std::string Training::held_out_text() const {
  if (!result_.score) return "";
  std::string text = ", held-out loss " + short_text(result_.score->loss.mean);
  if (result_.best) {
    text += ", best " + result_.best->metric + " " + short_text(result_.best->value) + " at step " +
            std::to_string(result_.best->step);
  }
  return text;
}

// Whether the run got anywhere: into run.json, and words for the last line if it did not. Its best
// loss counts, not its last.
std::string Training::training_verdict() {
  if (!result_.score || job_.construction) return "";
  if (!reference_) {  // a resumed run has not scored the baselines itself: the reference alone
    const auto scores = evaluate_baselines(*task_, job_.eval.seed, job_.eval.items,
                                           {.names = {}, .stop = stop_requested});
    if (scores) reference_ = find_reference(job_.task.type, *scores);
  }
  if (!reference_) return "";
  Mean loss = result_.score->loss;
  if (rule_.name == "loss") loss.mean = std::min(loss.mean, state_.best_value);
  record_.not_trained = not_trained(loss, *reference_);
  if (!*record_.not_trained) return "";
  return ", not trained: no better than " + reference_->name + " at " +
         short_text(reference_->loss.mean);
}

TrainResult train(const TrainJob& job) {
  install_signal_handlers();
  flush_denormals();
  Training training(job);
  return job.resume ? training.resume() : training.run();
}

}  // namespace headroom
