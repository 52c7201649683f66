// A run that stops anywhere and goes on leaves the files of one that never stopped.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>

#include "loop_fixture.h"
#include "train/checkpoint_folder.h"
#include "train/compare_runs.h"
#include "train/run_lock.h"

namespace headroom::resume_test {

struct Killed {};  // thrown out of a run: it ends without a word, as by kill -9

class Resume : public LoopTest {
 protected:
  Resume() : LoopTest(quick_parent()) {}

  // Ends the run in `out` after `step` steps, then resumes it to the end.
  TrainResult stop_and_resume(TrainJob job, std::uint64_t step, bool kill) {
    start(job, step, kill);
    return resume(job);
  }
  static void start(TrainJob job, std::uint64_t step, bool kill) {
    job.stop_after = [=](std::uint64_t s) {
      if (s == step && kill) throw Killed{};
      return s == step;
    };
    try {
      const TrainResult result = train(job);
      if (!kill && step < job.train.steps) {
        EXPECT_EQ(result.exit, Exit::kStopped);
        EXPECT_EQ(result.steps, step);
      }
    } catch (const Killed&) {
    }
  }
  static TrainResult resume(TrainJob job) {
    job.resume = {.steps = job.train.steps, .log_every = job.run.log_every};
    return train(job);
  }
  static void expect_same(const fs::path& whole, const fs::path& run, const std::string& what) {
    const RunComparison compared = compare_runs(whole, run);
    EXPECT_EQ(compared.difference, "") << what;
    EXPECT_GE(compared.files, 4u) << what;  // config, rows, a checkpoint and its link
  }
};

TEST_F(Resume, AtEveryStepWithEveryKindOfRun) {
  using Change = std::function<void(TrainJob&)>;
  const std::vector<std::pair<std::string, Change>> kinds{
      {"retrieval", [](TrainJob&) {}},
      {"curriculum", [](TrainJob& j) { j = small_regression(j.out); }},
      {"cross", [](TrainJob& j) { j = small_cross(j.out); }},
      {"sgd",
       [](TrainJob& j) {
         j.train.optimizer = {.type = OptimizerType::kSgd, .lr = 0.05, .momentum = 0.9};
       }},
      {"accumulate",
       [](TrainJob& j) {
         j.train.accumulate = 4;
         j.train.clip_norm = 0.01;
       }},
      {"patience",
       [](TrainJob& j) {
         j.train.optimizer.lr = 1;  // so that the first evaluations stay the best
         j.eval.every = 1;
         j.eval.patience = 5;
         j.run.keep = 1;
       }},
      {"keep",
       [](TrainJob& j) {
         j.run.keep = 2;
         j.run.checkpoint_every = 2;
       }},
      {"no evaluation", [](TrainJob& j) { j.eval.every = 0; }},
      {"constant",
       [](TrainJob& j) {
         j.train.schedule = {.type = ScheduleType::kConstant, .warmup = 0, .floor = 0, .steps = {}};
         j.eval.best_metric = "accuracy";
         j.run.log_every = 3;
       }},
  };
  for (const auto& [name, change] : kinds) {
    TrainJob job = small_job(folder / name);
    change(job);
    const TrainResult whole = train(job);
    for (std::uint64_t step = 0; step <= job.train.steps; ++step) {
      for (const bool kill : {false, true}) {
        job.out = folder / (name + (kill ? " killed " : " stopped ") + std::to_string(step));
        const TrainResult result = stop_and_resume(job, step, kill);
        EXPECT_EQ(result.reason, whole.reason) << job.out;
        EXPECT_EQ(result.steps, whole.steps) << job.out;
        expect_same(folder / name, job.out, job.out.string());
      }
    }
  }
}

TEST_F(Resume, ManyTimes) {
  TrainJob job = small_regression(folder / "whole");
  train(job);
  job.out = folder / "run";
  start(job, 1, false);
  TrainJob next = job;
  next.resume = {.steps = 7, .log_every = 2};
  std::vector<double> elapsed;
  for (const std::uint64_t step : {1, 1, 2, 4, 4, 5, 6, 7}) {
    start(next, step, step % 2 == 0);
    elapsed.push_back(std::stod(number_of(*run_json_of(job.out).find("elapsed_s"))));
  }
  expect_same(folder / "whole", job.out, "many");
  EXPECT_TRUE(std::is_sorted(elapsed.begin(), elapsed.end()));
  EXPECT_EQ(number_of(*run_json_of(job.out).find("resumes")), "8");
  const std::vector<std::string> column_elapsed = column(job.out / "train.csv", 5);
  for (std::size_t i = 2; i < column_elapsed.size(); ++i) {
    EXPECT_LE(std::stod(column_elapsed[i - 1]), std::stod(column_elapsed[i]));
  }
  const std::string log = content_of(job.out / "log.txt");
  EXPECT_NE(log.find("resumed after step 1 of 7"), std::string::npos) << log;
  EXPECT_NE(log.find("stopped after 1 steps"), std::string::npos) << log;
}

TEST_F(Resume, AFinishedRunIsLeftAlone) {
  for (const bool patience : {false, true}) {
    TrainJob job = small_job(folder / (patience ? "patience" : "done"));
    if (patience) {
      job.eval.every = 1;
      job.eval.patience = 1;
      job.train.optimizer.lr = 10;
    }
    const TrainResult whole = train(job);
    EXPECT_EQ(whole.reason, patience ? "patience" : "done");
    std::map<std::string, std::string> before;
    for (const auto& entry : fs::recursive_directory_iterator(job.out)) {
      if (entry.is_regular_file()) before[entry.path().string()] = content_of(entry.path());
    }
    const TrainResult result = resume(job);
    EXPECT_EQ(result.exit, Exit::kDone);
    EXPECT_EQ(result.reason, whole.reason);
    EXPECT_EQ(result.steps, whole.steps);
    for (const auto& [path, content] : before) EXPECT_EQ(content_of(path), content) << path;
  }
}

TEST_F(Resume, RowsAfterTheCheckpointAndTornOnesGo) {
  const TrainJob job = small_regression(folder / "whole");
  train(job);
  for (std::size_t cut = 0; cut < 26; cut += 2) {
    TrainJob torn = job;
    torn.out = folder / ("torn" + std::to_string(cut));
    start(torn, 4, true);  // the checkpoint is that of step 3
    for (const char* name : {"train.csv", "eval.csv", "eval_positions.csv"}) {
      const std::string text = content_of(torn.out / name);
      const std::string later = "4,0.5,0.25,1.0,9,1.5,2,3\n6,0.1,0.1,1.0,9,9.5,2,3\n";
      put(torn.out / name, text + later.substr(0, 2 * cut));
    }
    put(torn.out / "checkpoints/.step-000000006.safetensors.tmp-1", "half");
    resume(torn);
    expect_same(folder / "whole", torn.out, torn.out.string());
  }
}

TEST_F(Resume, ADamagedNewestCheckpointFallsBackToTheOneBefore) {
  const TrainJob job = small_job(folder / "whole");
  train(job);
  const std::string newest = checkpoint_name(6);
  const std::string good = content_of(job.out / "checkpoints" / newest);
  std::string flipped = good;
  flipped[good.size() - 5] ^= 4;
  // The last two are sound, of another step than their name says.
  const std::vector<std::string> bad{"",
                                     "short",
                                     good.substr(0, good.size() / 2),
                                     flipped,
                                     content_of(job.out / "checkpoints" / checkpoint_name(3)),
                                     content_of(job.out / "checkpoints" / checkpoint_name(7))};
  ASSERT_FALSE(bad[4].empty() || bad[5].empty());
  for (std::size_t i = 0; i < bad.size(); ++i) {
    TrainJob broken = job;
    broken.out = folder / ("broken" + std::to_string(i));
    start(broken, 6, true);
    put(broken.out / "checkpoints" / newest, bad[i]);
    const TrainResult result = resume(broken);
    EXPECT_EQ(result.exit, Exit::kDone);
    const fs::path aside = broken.out / "checkpoints" / (newest + ".damaged");
    EXPECT_EQ(content_of(aside), bad[i]);
    fs::remove(aside);
    expect_same(job.out, broken.out, broken.out.string());
    const std::string log = content_of(broken.out / "log.txt");
    EXPECT_NE(log.find("warning: "), std::string::npos);
    EXPECT_NE(log.find(newest), std::string::npos);
    EXPECT_NE(log.find("resumed after step 3 of 7"), std::string::npos) << log;
  }
}

TEST_F(Resume, WithoutAGoodCheckpointNothingIsTouched) {
  TrainJob job = small_job(folder / "run");
  start(job, 4, true);
  for (const std::uint64_t step : CheckpointFolder(job.out / "checkpoints", 1).steps()) {
    put(job.out / "checkpoints" / checkpoint_name(step), "not one");
  }
  const std::string csv = content_of(job.out / "train.csv"), log = content_of(job.out / "log.txt");
  job.resume = {.steps = 7, .log_every = 2};
  const Error error = failure(job);
  EXPECT_EQ(error.code(), Exit::kCorrupt);
  EXPECT_NE(std::string(error.what()).find(checkpoint_name(3)), std::string::npos) << error.what();
  EXPECT_EQ(content_of(job.out / "train.csv"), csv);
  EXPECT_EQ(content_of(job.out / "log.txt"), log);

  // One of another model is as good as none.
  TrainJob other = small_job(folder / "other");
  start(other, 4, true);
  other.model.ffn.width = 9;
  other.resume = job.resume;
  EXPECT_EQ(failure(other).code(), Exit::kCorrupt);
}

TEST_F(Resume, BeforeTheFirstCheckpointItBeginsAgain) {
  TrainJob job = small_job(folder / "whole");
  job.eval.every = 0;
  job.run.checkpoint_every = 0;
  train(job);
  const fs::path weights = job.out / "checkpoints/last.safetensors";
  job.out = folder / "run";
  stop_and_resume(job, 5, true);
  expect_same(folder / "whole", job.out, "from nothing");

  job.out = folder / "from";
  job.init_from = weights;
  train(job);
  job.out = folder / "from killed";
  start(job, 5, true);
  TrainJob without = job;
  without.init_from.reset();
  without.resume = {.steps = 7, .log_every = 2};
  EXPECT_NE(std::string(failure(without).what()).find("--init-from"), std::string::npos);
  resume(job);
  expect_same(folder / "from", job.out, "from weights");
}

TEST_F(Resume, AnEvaluationThatWasInterruptedIsMadeUpFor) {
  TrainJob job = small_job(folder / "whole");
  train(job);
  job.out = folder / "run";
  start(job, 2, false);
  // SIGTERM before the evaluation at step 3 leaves it due, the update being done.
  TrainJob next = job;
  next.resume = {.steps = 7, .log_every = 2};
  for (const std::uint64_t step : {3, 6}) {
    next.stop_after = [&](std::uint64_t s) {
      if (s + 1 == step) std::raise(SIGTERM);
      return false;
    };
    EXPECT_EQ(train(next).exit, Exit::kStopped);
    clear_stop_signal();
  }
  resume(job);
  expect_same(folder / "whole", job.out, "interrupted evaluation");
}

TEST_F(Resume, MoreStepsGiveTheLongerRun) {
  for (const std::uint64_t first : {4, 5, 6}) {
    TrainJob job = small_job(folder / ("long" + std::to_string(first)));
    job.train.schedule = {.type = ScheduleType::kConstant, .warmup = 2, .floor = 0, .steps = {}};
    job.eval.every = 0;
    job.run.keep = 2;
    job.train.steps = 11;
    train(job);
    TrainJob grown = job;
    grown.out = folder / ("grown" + std::to_string(first));
    grown.train.steps = first;
    train(grown);
    grown.train.steps = 11;
    grown.config_text = job.config_text = "{\"name\": \"small\"}\n";
    grown.resume = {.steps = first, .log_every = 2};
    train(grown);
    expect_same(job.out, grown.out, grown.out.string());
  }
  TrainJob shorter = small_job(folder / "long4");
  shorter.resume = {.steps = 11, .log_every = 2};
  EXPECT_EQ(failure(shorter).code(), Exit::kUsage);
}

TEST_F(Resume, OneProcessAtATime) {
  const TrainJob job = small_job(folder / "run");
  start(job, 4, true);
  const std::string csv = content_of(job.out / "train.csv");
  TrainJob second = job;
  second.resume = {.steps = 7, .log_every = 2};
  TrainJob force = job;
  force.force = true;
  {
    const RunLock held(job.out);  // flock tells two descriptors apart, of one process too
    for (const TrainJob& refused : {second, force}) {
      const Error error = failure(refused);
      EXPECT_EQ(error.code(), Exit::kUsage);
      EXPECT_NE(std::string(error.what()).find(job.out.string()), std::string::npos);
      EXPECT_NE(std::string(error.what()).find(std::to_string(getpid())), std::string::npos);
    }
    EXPECT_EQ(content_of(job.out / "train.csv"), csv);
  }
  EXPECT_EQ(train(second).exit, Exit::kDone);
  EXPECT_EQ(train(force).exit, Exit::kDone);
}

TEST_F(Resume, ComparisonFindsWhatDiffers) {
  const TrainJob job = small_regression(folder / "a");
  train(job);
  const auto copy = [&](const std::string& name) {
    fs::remove_all(folder / "b");
    fs::copy(folder / "a", folder / "b",
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    return folder / "b" / name;
  };
  const auto difference = [&] { return compare_runs(folder / "a", folder / "b").difference; };
  put(copy("log.txt"), "other");
  EXPECT_EQ(difference(), "");
  std::string csv = content_of(folder / "a/train.csv");
  const std::string row =
      csv.substr(csv.find('\n') + 1, csv.find('\n', csv.find('\n') + 1) - csv.find('\n') - 1);
  put(copy("train.csv"), csv + row + "\n");
  EXPECT_NE(difference().find("train.csv: row 5: none"), std::string::npos) << difference();
  csv[csv.find('\n') + 4] ^= 1;
  put(copy("train.csv"), csv);
  EXPECT_NE(difference().find("train.csv: row 1"), std::string::npos) << difference();
  fs::remove(copy("checkpoints/" + checkpoint_name(6)));
  EXPECT_NE(difference().find(checkpoint_name(6) + ": only in"), std::string::npos) << difference();
  fs::copy_file(folder / "a/checkpoints" / checkpoint_name(3),
                copy("checkpoints/" + checkpoint_name(6)), fs::copy_options::overwrite_existing);
  EXPECT_NE(difference().find(checkpoint_name(6) + ": tensor "), std::string::npos) << difference();
  const fs::path link = copy("checkpoints/last.safetensors");
  fs::remove(link);
  fs::create_symlink(checkpoint_name(3), link);
  EXPECT_NE(difference().find("last.safetensors: points to"), std::string::npos) << difference();
}

}  // namespace headroom::resume_test
