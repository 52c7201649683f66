#include "train/step.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <vector>

#include "core/arena.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "train/checkpoint.h"
#include "train/evaluate.h"
#include "train/schedule.h"
#include "train/signals.h"
#include "train/update.h"

namespace headroom {
namespace {

// Copies of tensors, to be written at the end.
template <class S>
class Dump {
 public:
  template <class T>
  void add(std::string name, std::vector<std::size_t> shape, std::span<const T> values) {
    const std::vector<S>& kept = values_.emplace_back(values.begin(), values.end());
    tensors_.push_back(
        safetensors::tensor(std::move(name), std::move(shape), std::span<const S>(kept)));
  }
  template <class T>
  void add(std::string name, View<T, 3> v) {
    add(std::move(name), {v.dim(0), v.dim(1), v.dim(2)}, std::span<const T>(v.data, v.size()));
  }
  void add_rows(const std::string& prefix, const ParamTable& table, std::span<const S> flat) {
    for (const ParamRow& row : table.rows()) {
      add(prefix + row.name, row.shape, flat.subspan(row.offset, row.size));
    }
  }
  void write(const std::filesystem::path& path, const safetensors::Metadata& metadata) const {
    safetensors::write(path, tensors_, metadata);
  }

 private:
  std::deque<std::vector<S>> values_;  // never moves what it holds
  std::vector<safetensors::Tensor> tensors_;
};

std::array<std::size_t, 3> three_sizes(const safetensors::Tensor& t, const std::string& path) {
  if (t.shape.size() != 3 || t.size() == 0) {
    throw Error(Exit::kUsage, path + ": " + t.name + " must have three sizes, none of them 0");
  }
  return {t.shape[0], t.shape[1], t.shape[2]};
}

// Batches are float32 by contract; a value that float32 does not hold would be compared with
// another.
void copy_exactly(const safetensors::Tensor& t, std::span<float> out, const std::string& path) {
  std::vector<double> values(out.size());
  safetensors::copy_values(t, std::span<double>(values));
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(values[i]);
    if (static_cast<double>(out[i]) != values[i]) {
      throw Error(Exit::kUsage, path + ": " + t.name + " holds " + real_text(values[i]) +
                                    ", which is no float32; round the batch to float32 first");
    }
  }
}

// The batch of a dump, or false if it has none. It may hold fewer tokens than the config's task, as
// those of a curriculum do.
bool load_batch(const safetensors::Archive& archive, const Task& task, OwnedBatch& batch) {
  const safetensors::Tensor* const input = archive.find("batch.input");
  const safetensors::Tensor* const query = archive.find("batch.query");
  const safetensors::Tensor* const target = archive.find("batch.target");
  if (input == nullptr && query == nullptr && target == nullptr) return false;
  const std::string path = archive.path().string();
  if (input == nullptr || target == nullptr) {
    throw Error(Exit::kUsage,
                path + ": has a part of a batch, but not both batch.input and batch.target");
  }
  TaskShape shape = task.shape();
  if ((query != nullptr) != (shape.queries > 0)) {
    throw Error(Exit::kUsage,
                path + (query != nullptr ? ": has batch.query, but the config's task asks with its"
                                           " own tokens"
                                         : ": has no batch.query, which the config's task needs"));
  }
  const auto in = three_sizes(*input, path), out = three_sizes(*target, path);
  bool fits = in[0] == out[0] && in[1] <= shape.tokens && in[2] == shape.input_dim &&
              out[2] == shape.output_dim;
  // A prediction behind the first tokens stays as far from the end of a shorter sequence.
  const std::size_t shorter = fits ? shape.tokens - in[1] : 0;
  shape.first_token -= std::min(shape.first_token, shorter);
  shape.tokens = in[1];
  shape.predictions = out[1];
  if (query != nullptr) {
    const auto asked = three_sizes(*query, path);
    fits = fits && asked[0] == in[0] && asked[1] <= shape.queries && asked[1] == out[1] &&
           asked[2] == shape.input_dim;
    shape.queries = asked[1];
  }
  if (!fits || shape.read_at().token(shape.predictions - 1) >= shape.outputs()) {
    throw Error(Exit::kUsage, path +
                                  ": batch.input, batch.query and batch.target do not fit the "
                                  "config's task");
  }
  batch.shape(shape, in[0]);
  copy_exactly(*input, batch.views.input.flat(), path);
  if (query != nullptr) copy_exactly(*query, batch.views.query.flat(), path);
  copy_exactly(*target, batch.views.target.flat(), path);
  return true;
}

// Whether the updates before job.at can be taken from where the parameters stand.
void check_start(const StepJob& job, const std::optional<safetensors::Archive>& archive,
                 std::uint64_t first_step) {
  if (archive && !is_checkpoint(*archive)) {
    throw Error(Exit::kUsage, "--at: " + archive->path().string() +
                                  " is no checkpoint, so nothing is known of the updates before");
  }
  if (*job.at >= first_step) return;
  throw Error(Exit::kUsage, "--at " + std::to_string(*job.at) + ": " + archive->path().string() +
                                " has taken " + std::to_string(first_step - 1) +
                                " updates already; an earlier checkpoint, or none, can take it");
}

template <class S>
void initial_params(const ParamTable& table, std::uint64_t seed, std::span<S> params) {
  std::vector<float> drawn(table.size());
  init_params(table, seed, View<float, 1>(drawn.data(), {drawn.size()}));
  std::copy(drawn.begin(), drawn.end(), params.begin());
}

// All steps are in memory, and in one file, before it is written.
template <class S>
void require_room(std::uint64_t steps, std::size_t items, const ModelIo& io,
                  const ParamTable& table) {
  const std::size_t most =
      std::max<std::size_t>(1, safetensors::kMostTensors / (table.rows().size() + 5));
  if (steps > most)
    refuse("--steps " + std::to_string(steps) + ": one file can list the tensors of at most " +
           std::to_string(most) + " steps of this model");
  const std::size_t outputs = io.queries > 0 ? io.queries : io.tokens;
  const std::size_t of_step = table.size() + items * ((io.tokens + io.queries) * io.input_dim +
                                                      2 * outputs * io.output_dim);
  require_memory(static_cast<double>(sizeof(S) * of_step) * static_cast<double>(steps),
                 "what " + std::to_string(steps) + " steps computed", "fewer --steps need less");
}

template <class S>
StepResult run(const StepJob& job) {
  const std::unique_ptr<Task> task = make_task(job.task);
  const ModelIo io = model_io(*task);
  const Schedule schedule(job.train.schedule, job.train.optimizer.lr, job.train.steps);
  std::optional<safetensors::Archive> archive;
  if (job.load) archive.emplace(*job.load);
  OwnedBatch batch;
  const bool loaded_batch = archive && load_batch(*archive, *task, batch);
  const std::size_t n = loaded_batch ? batch.views.items() : job.train.batch;

  if constexpr (std::is_same_v<S, float>) use_precision(job.train.precision);
  Model<S> model(resolve(job.model, io), io, n);
  Updater<S> updater(model, job.train, io, n);
  const ParamTable& table = model.table();
  const std::span<S> params = model.params().flat();
  StepResult result;
  if (!archive) {
    initial_params(table, job.init_seed, params);
  } else if (is_checkpoint(*archive)) {
    result.first_step = load_checkpoint(*archive, table, params, updater.optimizer()).step + 1;
  } else {
    load_params(*archive, table, params, "param.");
  }

  const auto take_batch = [&](std::uint64_t s) {
    if (loaded_batch) return;
    const Stage stage = task->stage(s);
    batch.shape(task->shape(stage), n);
    sample_batch(*task, job.data_seed, Purpose::kTrain, s, 0, stage, batch.views);
  };
  if (job.at) {
    check_start(job, archive, result.first_step);
    for (std::uint64_t& s = result.first_step; s < *job.at; ++s) {
      result.stopped = stop_requested();
      if (result.stopped) return result;
      take_batch(s);
      updater.apply(s, updater.gradient(batch.views), schedule.rate(s));
    }
  }
  require_room<S>(job.steps, n, io, table);
  Dump<S> dump;
  dump.add_rows("param.", table, params);
  std::string rates, norms;
  std::vector<S> output;
  std::optional<Error> refused;
  for (std::uint64_t k = 1; k <= job.steps && !refused; ++k) {
    result.stopped = stop_requested();
    if (result.stopped) return result;
    const std::uint64_t s = result.first_step + k - 1;
    take_batch(s);
    const Batch& items = batch.views;
    const std::string prefix = k == 1 ? "" : "step." + std::to_string(k) + ".";
    const std::size_t outputs = (items.query.empty() ? items.input : items.query).dim(1);
    output.resize(n * outputs * io.output_dim);
    const View<S, 3> out(output.data(), {n, outputs, io.output_dim});
    result.loss = updater.gradient(items, out);
    dump.add(prefix + "batch.input", items.input);
    if (!items.query.empty()) dump.add(prefix + "batch.query", items.query);
    dump.add(prefix + "batch.target", items.target);
    dump.add(prefix + "output", out);
    dump.add(prefix + "loss", {}, std::span<const double>(&result.loss, 1));
    dump.add_rows(prefix + "grad.", table, model.grads().flat());
    try {
      result.grad_norm = updater.apply(s, result.loss, schedule.rate(s));
    } catch (const Error& error) {
      refused = error;
      result.grad_norm = std::numeric_limits<double>::quiet_NaN();
    }
    result.steps = k;
    rates += (k == 1 ? "" : " ") + real_text(schedule.rate(s));
    norms += (k == 1 ? "" : " ") + real_text(result.grad_norm);
  }
  if (!refused) {
    dump.add_rows("updated.", table, params);
    dump.add_rows("optimizer.m.", table, updater.optimizer().m());
    if (!updater.optimizer().v().empty())
      dump.add_rows("optimizer.v.", table, updater.optimizer().v());
  }
  dump.write(job.dump, {{"format", "headroom-step"},
                        {"first_step", std::to_string(result.first_step)},
                        {"steps", std::to_string(result.steps)},
                        {"rate", rates},
                        {"grad_norm", norms},
                        {"config", job.config_text}});
  if (refused) throw Error(refused->code(), refused->what() + ("; wrote " + job.dump.string()));
  return result;
}

}  // namespace

StepResult run_steps(const StepJob& job) {
  if (job.model.attention.type == AttentionType::kHard)
    throw Error(Exit::kUsage, "model.attention.type = hard has no gradient to step along");
  flush_denormals();
  return job.float64 ? run<double>(job) : run<float>(job);
}

}  // namespace headroom
