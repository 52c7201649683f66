#include "train/update.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "core/error.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "model/loss.h"
#include "train/freeze.h"

namespace headroom {
namespace {

constexpr std::size_t kFillTile = 1 << 16;

// The first dims of a buffer under smaller ones: shorter sequences of an earlier curriculum stage.
template <class S>
View<S, 3> shrunk(View<S, 3> buffer, std::size_t b, std::size_t t, std::size_t c) {
  View<S, 3> view{buffer.data, {b, t, c}};
  assert(view.size() <= buffer.size());
  return view;
}

// A frozen parameter has gradient 0; without decay too it stays bit for bit.
ParamTable without_decay(const ParamTable& table, const std::vector<bool>& frozen) {
  ParamTable changed;
  for (std::size_t i = 0; i < frozen.size(); ++i) {
    ParamRow row = table.rows()[i];
    if (frozen[i]) row.decay = false;
    changed.add(std::move(row));
  }
  return changed;
}

}  // namespace

// The values of `from` in the front of `into`.
template <class S>
View<const S, 3> copied(View<const float, 3> from, View<S, 3> into) {
  const View<S, 3> wide = shrunk(into, from.dim(0), from.dim(1), from.dim(2));
  std::copy_n(from.data, from.size(), wide.data);
  return wide;
}

std::size_t items_per_part(const TrainConfig& config, std::size_t batch) {
  if (config.accumulate == 0 || batch % config.accumulate != 0)
    refuse("train.accumulate = " + std::to_string(config.accumulate) +
           " does not divide train.batch = " + std::to_string(batch));
  return batch / config.accumulate;
}

template <class S>
Updater<S>::Updater(Model<S>& model, const TrainConfig& config, const ModelIo& io,
                    std::size_t batch)
    : model_(model),
      batch_(batch),
      parts_(config.accumulate),
      clip_norm_(config.clip_norm.value_or(std::numeric_limits<double>::infinity())),
      frozen_(frozen_rows(model.table(), config.freeze)),
      optimizer_(config.optimizer, without_decay(model.table(), frozen_)),
      meter_(model.table().size()) {
  const std::size_t part = items_per_part(config, batch);
  const auto lay_out = [&](Arena<S>& arena) {
    if constexpr (!std::is_same_v<S, float>) {
      input_ = arena.take(part, io.tokens, io.input_dim);
      query_ = arena.take(part, io.queries, io.input_dim);
    }
    doutput_ = arena.take(part, io.queries > 0 ? io.queries : io.tokens, io.output_dim);
  };
  Arena<S> measure;
  lay_out(measure);
  memory_ = Arena<S>(measure.used());
  lay_out(memory_);
}

template <class S>
double Updater<S>::part_gradient(View<const S, 3> input, View<const S, 3> query, const Batch& items,
                                 double scale, View<S, 3> output) {
  const View<S, 3> doutput =
      shrunk(doutput_, input.dim(0), (query.empty() ? input : query).dim(1), doutput_.dim(2));
  return model_.gradient(
      input, query, doutput, [&](std::size_t first, View<const S, 3> out, View<S, 3> dout) {
        if (!output.empty())
          std::copy_n(out.data, out.size(), output.range(first, out.dim(0)).data);
        return prediction_loss<S>(items.loss, dout, out, items.target.range(first, out.dim(0)),
                                  items.read_at, scale);
      });
}

template <class S>
double Updater<S>::gradient(const Batch& batch, View<S, 3> output) {
  assert(batch.items() == batch_ && batch.target.dim(0) == batch_);
  const std::span<S> grads = model_.grads().flat();
  parallel_rows(grads.size(), kFillTile, [&](std::size_t first, std::size_t count) {
    std::fill_n(grads.data() + first, count, S{});
  });
  const std::size_t part = batch_ / parts_;
  const double scale = 1.0 / static_cast<double>(batch_ * batch.target.dim(1));
  double loss = 0;
  for (std::size_t k = 0; k < parts_; ++k) {
    const Batch items = batch.range(k * part, part);
    const View<S, 3> out = output.empty() ? output : output.range(k * part, part);
    if constexpr (std::is_same_v<S, float>) {
      loss += part_gradient(items.input, items.query, items, scale, out);
    } else {
      loss += part_gradient(copied(items.input, input_), copied(items.query, query_), items, scale,
                            out);
    }
  }
  for (std::size_t i = 0; i < frozen_.size(); ++i) {
    const ParamRow& row = model_.table().rows()[i];
    if (frozen_[i]) std::fill_n(grads.data() + row.offset, row.size, S{});
  }
  return loss;
}

template <class S>
double Updater<S>::apply(std::uint64_t t, double loss, double rate) {
  const std::span<S> params = model_.params().flat();
  const std::span<const S> grads = model_.grads().flat();
  const GradientSize size = meter_.measure(grads);
  const double factor = clip_factor(size.norm, clip_norm_);
  if (!std::isfinite(loss) || !std::isfinite(size.norm) ||
      !optimizer_.can_square(size.largest * factor)) {
    refuse(t, loss, size);
  }
  if (!optimizer_.step(t, rate, factor, params, grads)) {
    throw Error(Exit::kDiverged, "step " + std::to_string(t) + ": the update made parameter " +
                                     first_nonfinite<S>(model_.table(), params) +
                                     " non-finite (rate " + real_text(rate) + ", gradient norm " +
                                     real_text(size.norm) + ")");
  }
  return size.norm;
}

template <class S>
void Updater<S>::refuse(std::uint64_t t, double loss, const GradientSize& size) {
  const std::span<const S> params = model_.params().flat(), grads = model_.grads().flat();
  const std::string parameter = first_nonfinite<S>(model_.table(), params);
  const std::string gradient = first_nonfinite<S>(model_.table(), grads);
  std::string why = "step " + std::to_string(t) + ": the update is refused, ";
  if (!std::isfinite(loss)) {
    why += "the loss is " + real_text(loss);
  } else if (!std::isfinite(size.norm)) {
    why += "the gradient is not finite";
  } else {
    why += "the gradient of " + largest_tensor<S>(model_.table(), grads) +
           " is too large to be squared (" + real_text(size.largest) + ")";
  }
  if (!parameter.empty()) {
    why += ", first in parameter " + parameter;
  } else if (!gradient.empty()) {
    why += ", first in the gradient of " + gradient;
  }
  throw Error(Exit::kDiverged, why);
}

template class Updater<float>;
template class Updater<double>;

}  // namespace headroom
