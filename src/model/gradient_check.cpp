#include "model/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/arena.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "model/loss.h"

namespace headroom {
namespace {

using Complex = std::complex<double>;

// A model with its own copy of the data, in scalar S.
template <class S>
struct Trial {
  Model<S> model;
  Arena<S> memory;
  View<S, 3> input, query, doutput;  // query is empty where the tokens ask themselves
  View<const float, 3> target;
  ReadAt read_at;
  LossType loss_type;
  double scale;

  Trial(const ModelConfig& c, const ModelIo& io, const GradientCheckPlan& plan,
        View<const float, 3> data, View<const float, 3> query_data, View<const float, 3> target_in,
        ModelUse use)
      : model(c, io, plan.batch, use),
        memory(data.size() + query_data.size() +
               plan.batch * std::max(io.tokens, io.queries) * io.output_dim + 192),
        input(memory.take(plan.batch, plan.tokens, io.input_dim)),
        query(memory.take(plan.batch, io.queries, io.input_dim)),
        doutput(memory.take(plan.batch, io.queries > 0 ? io.queries : plan.tokens, io.output_dim)),
        target(target_in),
        read_at(plan.read_at),
        loss_type(plan.loss),
        scale(1.0 / static_cast<double>(target_in.dims[0] * target_in.dims[1])) {
    std::copy_n(data.data, data.size(), input.data);
    std::copy_n(query_data.data, query_data.size(), query.data);
  }
  S loss() {
    return prediction_loss<S>(loss_type, doutput, model.forward(input, query), target, read_at,
                              scale);
  }
};

}  // namespace

ModelConfig shrunk_twin(const ModelConfig& config, ModelIo& io) {
  ModelConfig c = resolve(config, io);
  io.tokens = std::min<std::size_t>(io.tokens, 8);
  io.queries = std::min<std::size_t>(io.queries, 8);
  c.layers = std::min<std::size_t>(c.layers, 2);
  c.ffn.width = std::min<std::size_t>(c.ffn.width, 64);
  c.positions.length = std::max(io.tokens, io.queries);
  return c;
}

std::vector<GradientCheck> check_gradients(const ModelConfig& config, const ModelIo& io,
                                           const GradientCheckPlan& plan) {
  const std::size_t asked = io.queries > 0 ? io.queries : plan.tokens;
  const std::size_t predictions =
      (asked - plan.read_at.first + plan.read_at.stride - 1) / plan.read_at.stride;
  Arena<float> data(
      plan.batch * ((plan.tokens + io.queries) * io.input_dim + predictions * io.output_dim) + 192);
  const View<float, 3> input = data.take(plan.batch, plan.tokens, io.input_dim);
  const View<float, 3> query = data.take(plan.batch, io.queries, io.input_dim);
  const View<float, 3> target = data.take(plan.batch, predictions, io.output_dim);
  Random(plan.seed, Purpose::kCheck, 0, 0).fill_normal(input.flat());
  Random(plan.seed, Purpose::kCheck, 0, 1).fill_normal(target.flat());
  if (plan.loss == LossType::kLogistic)
    for (float& y : target.flat()) y = y < 0 ? -1.0f : 1.0f;
  Random(plan.seed, Purpose::kCheck, 0, 3).fill_normal(query.flat());

  Trial<double> truth(config, io, plan, input, query, target, ModelUse::kTraining);
  const ParamTable& table = truth.model.table();
  // The initial values plus a little noise, so that zero biases and unit norms are no special case.
  Arena<float> values(2 * table.size() + 64);
  const View<float, 1> params = values.take(table.size()), noise = values.take(table.size());
  init_params(table, plan.seed, params);
  Random(plan.seed, Purpose::kCheck, 0, 2).fill_normal(noise.flat());
  for (std::size_t i = 0; i < table.size(); ++i)
    truth.model.params()(i) = static_cast<double>(params(i)) + 0.1 * static_cast<double>(noise(i));
  truth.loss();
  truth.model.backward(truth.input, truth.doutput, truth.query);
  const View<double, 1> grads = truth.model.grads();

  double model_largest = 0;
  for (double g : grads.flat()) model_largest = std::max(model_largest, std::abs(g));

  // Entries of one tensor that move together.
  struct Probe {
    std::size_t row;
    std::vector<std::size_t> entries;
    std::vector<double> amounts;
    double slope = 0;  // of the loss, by the complex step
  };
  std::vector<GradientCheck> result;
  std::vector<Probe> probes;
  for (std::size_t r = 0; r < table.rows().size(); ++r) {
    const ParamRow& row = table.rows()[r];
    GradientCheck check{row.name, std::min(plan.entries_per_tensor, row.size), 0, 0};
    for (std::size_t i = 0; i < row.size; ++i)
      check.largest = std::max(check.largest, std::abs(grads(row.offset + i)));
    Random pick(plan.seed, Purpose::kCheck, 1, r);
    for (std::size_t e = 0; e < check.entries; ++e) {
      if (e % plan.entries_per_forward == 0) probes.push_back({r, {}, {}, 0});
      Probe& probe = probes.back();
      const bool all = row.size <= plan.entries_per_tensor;
      const std::size_t index = all ? e : pick.below(static_cast<std::uint32_t>(row.size));
      probe.entries.push_back(row.offset + index);
      probe.amounts.push_back(plan.entries_per_forward == 1 ? 1.0 : 0.5 + pick.uniform());
    }
    result.push_back(check);
  }

  std::vector<std::unique_ptr<Trial<Complex>>> trials;
  for (int t = 0; t < threads(); ++t) {
    trials.push_back(std::make_unique<Trial<Complex>>(config, io, plan, input, query, target,
                                                      ModelUse::kAnswering));
    for (std::size_t i = 0; i < table.size(); ++i)
      trials.back()->model.params()(i) = truth.model.params()(i);
  }
  parallel_for(probes.size(), [&](std::size_t i) {
    constexpr double kStep = 1e-30;
    Trial<Complex>& trial = *trials[worker()];
    Probe& probe = probes[i];
    for (std::size_t e = 0; e < probe.entries.size(); ++e)
      trial.model.params()(probe.entries[e]) += Complex(0, kStep * probe.amounts[e]);
    probe.slope = trial.loss().imag() / kStep;
    for (const std::size_t e : probe.entries) trial.model.params()(e) = truth.model.params()(e);
  });
  for (const Probe& probe : probes) {
    GradientCheck& check = result[probe.row];
    double sum = 0, size = probe.entries.size() == 1 ? std::abs(probe.slope) : 0;
    for (std::size_t e = 0; e < probe.entries.size(); ++e) {
      const double share = probe.amounts[e] * grads(probe.entries[e]);
      sum += share;
      if (probe.entries.size() > 1) size += std::abs(share);
    }
    const double floor = std::max({size, 1e-3 * check.largest, 1e-6 * model_largest});
    const double error = floor == 0 ? 0 : std::abs(sum - probe.slope) / floor;
    if (!(error <= check.worst_error)) check.worst_error = error;  // a NaN counts as the worst
  }
  return result;
}

}  // namespace headroom
