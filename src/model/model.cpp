#include "model/model.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <numeric>
#include <string>

#include "core/memory.h"
#include "core/parallel.h"
#include "kernels/matmul.h"
#include "kernels/row_groups.h"
#include "model/slices.h"
#include "model/transformer.h"
#include "model/without_head.h"

namespace headroom {

ParamTable parameter_table(const ModelConfig& config, const ModelIo& io) {
  ParamTable table;
  Binder<float> declare(table);
  transformer_params(declare, resolve(config, io), io);
  return table;
}

namespace {

// The activations of a batch, laid out for the shape of the last one.
template <class S>
struct Activations {
  Arena<S> memory;
  TransformerCache<S> cache;
  std::size_t batch = 0, tokens = 0, queries = 0;  // what the cache is laid out for
};

// What products gave, once it is known that none of them failed.
template <class Result>
Result checked(Result result) {
  kernels::require_products();
  return result;
}

}  // namespace

template <class S>
struct Model<S>::Impl {
  ModelConfig config;
  ModelIo io;
  std::size_t max_batch;
  std::size_t at_once;  // sequences that `whole` holds
  bool training;
  bool inspected;  // neither: for answers alone
  std::size_t n_threads;
  ParamTable table;
  Arena<S> memory;  // parameters and gradients, then the activations
  View<S, 1> flat_params, flat_grads;
  TransformerParams<S> params, grads;
  Activations<S> whole;
  Arena<S> part_outputs_memory;  // of more sequences than that
  std::size_t whole_sites = 0;   // attention layers whose input is that of the last forward
  std::size_t last_items = 0;    // sequences of the last forward; more than `whole` holds: in parts
  Arena<S> next_memory;
  NextTokenCache<S> next;  // of an evaluated model that can be continued
  Slices slices{0, 1};
  std::vector<Activations<S>> of_worker;  // of a slice, one a thread
  Arena<S> share_memory;
  View<S, 2> shares;                               // (slices of a wave, parameters) their gradients
  std::vector<TransformerParams<S>> share_params;  // the same, cut into tensors
  std::vector<double> share_losses;

  // Elements of memory for a batch of this shape, whose kernels run on `workers` threads.
  std::size_t elements(Activations<S>& a, std::size_t items, std::size_t tokens,
                       std::size_t queries, std::size_t workers) {
    Arena<S> measure;
    transformer_cache(a.cache, measure, config, io, items, tokens, queries, workers, training,
                      inspected);
    return measure.used();
  }
  // The same for sequences of any length, as a curriculum brings them. Kernels choose by shape what
  // they keep, so that shorter ones can take more.
  std::size_t measured(Activations<S>& a, std::size_t items, std::size_t workers) {
    std::size_t most = 0;
    for (std::size_t cut = 0; cut < std::max(io.tokens, io.queries); ++cut) {
      const std::size_t tokens = std::max<std::size_t>(io.tokens - std::min(io.tokens, cut), 1),
                        queries = io.queries == 0 ? 0 : std::max(io.queries, cut + 1) - cut;
      most = std::max(most, elements(a, items, tokens, queries, workers));
    }
    return most;
  }
  // How many sequences are in memory at once. A batch whose activations would be large goes through
  // the model in parts of about equal size, one after the other, with all threads at each. Counted
  // as for one thread: parts order sums, so their number must not depend on the threads.
  std::size_t items_of_part() {
    constexpr std::size_t kLarge = 1 << 25;  // elements: 128 MB of float
    constexpr std::size_t kPartRows = 1536;  // enough to keep many threads busy
    if (elements(whole, max_batch, io.tokens, io.queries, 1) <= kLarge) return max_batch;
    const std::size_t rows = max_batch * (io.tokens + io.queries),
                      parts = std::max<std::size_t>(1, rows / kPartRows);
    return (max_batch + parts - 1) / parts;
  }
  void plan(Activations<S>& a, std::size_t items, std::size_t workers) {
    a.memory = Arena<S>(measured(a, items, workers));
  }

  // The same of the cache for one more token behind the longest sequences; 0 where that is not for.
  bool plans_next() const { return !training && !inspected && can_continue(config); }
  std::size_t measured_next() {
    Arena<S> measure;
    if (plans_next())
      next_token_cache(next, measure, config, io, at_once, io.tokens - 1, n_threads);
    return measure.used();
  }

  // Slices whose gradients wait to be added up.
  std::size_t wave() const { return std::min<std::size_t>(slices.count, 64); }

  // Elements of memory that slices take beside `whole`.
  std::size_t measured_slices() {
    if (slices.count == 1) return 0;
    Activations<S> one;
    return wave() * table.size() + n_threads * measured(one, slices.items, 1);
  }
  void plan_slices() {
    if (slices.count == 1) return;
    of_worker.resize(n_threads);
    for (Activations<S>& a : of_worker) plan(a, slices.items, 1);
    Arena<S> measure;
    (void)measure.take(wave(), table.size());
    share_memory = Arena<S>(measure.used());
    shares = share_memory.take(wave(), table.size());
    for (std::size_t k = 0; k < wave(); ++k) {
      Binder<S> bind(shares[k].data);
      share_params.push_back(transformer_params(bind, config, io));
    }
    share_losses.resize(wave());
  }

  void lay_out(Activations<S>& a, std::size_t workers, View<const S, 3> input,
               View<const S, 3> query) {
    assert(input.dims[0] <= at_once && input.dims[1] <= io.tokens);
    assert(query.empty() == (io.queries == 0) && query.dims[1] <= io.queries);
    assert(static_cast<std::size_t>(threads()) <= n_threads);  // each has its scratch
    if (input.dims[0] == a.batch && input.dims[1] == a.tokens && query.dims[1] == a.queries) return;
    a.batch = input.dims[0];
    a.tokens = input.dims[1];
    a.queries = query.dims[1];
    // What was not foreseen, as a last part of fewer sequences that takes more than a whole one.
    const std::size_t n = elements(a, a.batch, a.tokens, a.queries, workers);
    if (n > a.memory.capacity()) a.memory = Arena<S>(n);
    a.memory.rewind(0);
    transformer_cache(a.cache, a.memory, config, io, a.batch, a.tokens, a.queries, workers,
                      training, inspected);
  }
};

namespace {

// Names what takes the most, and the keys that it comes from.
template <class S>
void check_memory(std::size_t n_parameters, std::size_t n_activations, std::size_t sequences,
                  bool training) {
  const double of_parameters = sizeof(S) * static_cast<double>(n_parameters);
  const double of_activations = sizeof(S) * static_cast<double>(n_activations);
  const bool large_batch = of_activations > of_parameters;
  const std::string batch =
      std::to_string(sequences) + (sequences == 1 ? " sequence" : " sequences");
  require_memory(of_parameters + of_activations,
                 "the model with " + batch + " at once (" + bytes_text(of_parameters) +
                     (training ? " of parameters and gradients, " : " of parameters, ") +
                     bytes_text(of_activations) + " of activations)",
                 large_batch && sequences == 1 ? "shorter sequences (task.points) need less"
                 : large_batch ? "a smaller train.batch (or more train.accumulate), eval.batch or "
                                 "task.points needs less"
                               : "a smaller model.width, model.layers or fewer heads need less");
}

}  // namespace

template <class S>
Model<S>::Model(const ModelConfig& config, const ModelIo& io, std::size_t max_batch, ModelUse use)
    : impl_(new Impl) {
  Impl& m = *impl_;
  m.config = resolve(config, io);
  m.io = io;
  m.max_batch = max_batch;
  m.training = use == ModelUse::kTraining;
  m.inspected = use == ModelUse::kInspection;
  m.n_threads = static_cast<std::size_t>(threads());
  m.at_once = m.inspected ? max_batch : m.items_of_part();
  Binder<S> declare(m.table);
  transformer_params(declare, m.config, io);
  const std::size_t n = m.table.size();
  if (m.training) m.slices = Slices::of(n, io, max_batch);
  Arena<S> measure;
  (void)measure.take(n);
  if (m.training) (void)measure.take(n);
  check_memory<S>(
      measure.used(),
      m.measured(m.whole, m.at_once, m.n_threads) + m.measured_next() + m.measured_slices(),
      m.at_once, m.training);
  m.memory = Arena<S>(measure.used());
  m.flat_params = m.memory.take(n);
  Binder<S> bind(m.flat_params.data);
  m.params = transformer_params(bind, m.config, io);
  if (m.training) {
    m.flat_grads = m.memory.take(n);
    Binder<S> bind_grads(m.flat_grads.data);
    m.grads = transformer_params(bind_grads, m.config, io);
  }
  m.plan(m.whole, m.at_once, m.n_threads);
  if (m.at_once < max_batch) {
    const std::size_t outputs = io.queries > 0 ? io.queries : io.tokens;
    Arena<S> outputs_measure;
    (void)outputs_measure.take(max_batch, outputs, io.output_dim);
    m.part_outputs_memory = Arena<S>(outputs_measure.used());
  }
  m.next_memory = Arena<S>(m.measured_next());
  if (m.training) m.plan_slices();
}

template <class S>
Model<S>::~Model() = default;

template <class S>
const ParamTable& Model<S>::table() const {
  return impl_->table;
}
template <class S>
View<S, 1> Model<S>::params() {
  return impl_->flat_params;
}
template <class S>
View<S, 1> Model<S>::grads() {
  return impl_->flat_grads;
}

template <class S>
std::size_t Model<S>::memory_bytes() const {
  std::size_t n = impl_->memory.capacity() + impl_->whole.memory.capacity() +
                  impl_->part_outputs_memory.capacity() + impl_->next_memory.capacity() +
                  impl_->share_memory.capacity();
  for (const Activations<S>& a : impl_->of_worker) n += a.memory.capacity();
  return sizeof(S) * n;
}

template <class S>
std::size_t Model<S>::items_at_once() const {
  return impl_->at_once;
}

template <class S>
View<const S, 3> Model<S>::forward(View<const S, 3> input, View<const S, 3> query) {
  Impl& m = *impl_;
  m.whole_sites = std::numeric_limits<std::size_t>::max();
  const auto part = [&](std::size_t first, std::size_t n) {
    const View<const S, 3> in = input.range(first, n),
                           asks = query.empty() ? query : query.range(first, n);
    m.lay_out(m.whole, m.n_threads, in, asks);
    return checked(transformer_forward(m.config, m.whole.cache, in, asks, m.params));
  };
  const std::size_t items = m.last_items = input.dims[0];
  assert(items <= m.max_batch);
  if (items <= m.at_once) return part(0, items);
  m.part_outputs_memory.rewind(0);
  View<S, 3> all;
  for (std::size_t first = 0; first < items; first += m.at_once) {
    const std::size_t n = std::min(m.at_once, items - first);
    const View<const S, 3> out = part(first, n);
    if (first == 0) all = m.part_outputs_memory.take(items, out.dims[1], out.dims[2]);
    std::copy_n(out.data, out.size(), all.range(first, n).data);
  }
  return all;
}

template <class S>
bool Model<S>::continues() const {
  const Impl& m = *impl_;
  return m.plans_next() && m.last_items > 0 && m.last_items <= m.at_once &&
         kept_past(m.whole.cache);
}

template <class S>
View<const S, 3> Model<S>::forward_next(View<const S, 3> token, std::size_t position) {
  Impl& m = *impl_;
  assert(continues() && token.dims[0] == m.whole.batch && token.dims[1] == 1 &&
         position <= m.whole.tokens && position < m.io.tokens);
  m.next_memory.rewind(0);
  next_token_cache(m.next, m.next_memory, m.config, m.io, m.whole.batch, position, m.n_threads);
  return checked(next_token_forward(m.config, m.next, m.whole.cache, token, m.params));
}

template <class S>
std::vector<AttentionRecord<S>> Model<S>::attention() const {
  return attention_records(impl_->config, impl_->whole.cache, impl_->params);
}

template <class S>
std::vector<StreamRecord<S>> Model<S>::stream() const {
  return stream_records(impl_->config, impl_->whole.cache);
}

template <class S>
View<const S, 3> Model<S>::forward_without(std::size_t site, std::size_t copy, std::size_t head) {
  Impl& m = *impl_;
  const AttentionRecord<S> record = attention()[site];
  assert(site <= m.whole_sites && copy < record.sizes.shape.copies &&
         head < record.sizes.shape.heads);
  m.whole_sites = site;
  TransformerParams<S> params = m.params;
  StackParams<S>& stack = record.stack == StackName::kEncoder ? params.encoder : params.main;
  while (stack.layers.size() < m.config.layers) stack.layers.push_back(stack.layers.back());
  BlockParams<S>& block = stack.layers[record.layer];
  std::array<std::vector<S>, 2> memory;
  AttentionParams<S>& changed =
      record.name.ends_with(".cross_attention") ? block.cross_attention : block.attention;
  changed = without_head(m.config, record.sizes, changed, copy, head, memory);
  return checked(
      transformer_forward_from(m.config, m.whole.cache, record.stack, record.layer, params));
}

template <class S>
void Model<S>::backward(View<const S, 3> input, View<const S, 3> doutput, View<const S, 3> query) {
  assert(impl_->training && input.dims[0] == impl_->whole.batch &&
         input.dims[1] == impl_->whole.tokens && query.dims[1] == impl_->whole.queries);
  transformer_backward(impl_->config, impl_->grads, doutput, input, query, impl_->whole.cache,
                       impl_->params);
  kernels::require_products();
}

template <class S>
double Model<S>::gradient(View<const S, 3> input, View<const S, 3> query, View<S, 3> doutput,
                          const SliceLoss& loss) {
  Impl& m = *impl_;
  if (m.slices.count == 1) {
    double all = 0;
    for (std::size_t first = 0; first < input.dims[0]; first += m.at_once) {
      const std::size_t n = std::min(m.at_once, input.dims[0] - first);
      const View<const S, 3> in = input.range(first, n),
                             asks = query.empty() ? query : query.range(first, n);
      const View<S, 3> dout = doutput.range(first, n);
      all += loss(first, forward(in, asks), dout);
      backward(in, dout, asks);
    }
    return all;
  }
  const std::size_t items = input.dims[0], size = m.slices.items, of_wave = m.wave() * size;
  double all = 0;
  for (std::size_t begin = 0; begin < items; begin += of_wave) {
    const std::size_t n_items = std::min(of_wave, items - begin),
                      count = (n_items + size - 1) / size;
    parallel_rows(n_items, size, [&](std::size_t at, std::size_t n) {
      Activations<S>& mine = m.of_worker[worker()];
      const std::size_t k = at / size, first = begin + at;
      const Alone alone;
      const View<const S, 3> in = input.range(first, n),
                             asks = query.empty() ? query : query.range(first, n);
      const View<S, 3> dout = doutput.range(first, n);
      std::fill_n(m.shares[k].data, m.shares.dims[1], S{});
      m.lay_out(mine, 1, in, asks);
      const View<const S, 3> out = transformer_forward(m.config, mine.cache, in, asks, m.params);
      m.share_losses[k] = loss(first, out, dout);
      transformer_backward<S>(m.config, m.share_params[k], dout, in, asks, mine.cache, m.params);
    });
    kernels::require_products();
    kernels::add_shares(m.flat_grads.data, m.table.size(), m.shares.data, count, m.shares.dims[1]);
    all = std::accumulate(m.share_losses.begin(),
                          m.share_losses.begin() + static_cast<std::ptrdiff_t>(count), all);
  }
  return all;
}

template class Model<float>;
template class Model<double>;
template class Model<std::complex<double>>;

}  // namespace headroom
