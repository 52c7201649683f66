#include "model/model.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <string>

#include "core/memory.h"
#include "core/parallel.h"
#include "model/transformer.h"

namespace headroom {

ParamTable parameter_table(const ModelConfig& config, const ModelIo& io) {
  ParamTable table;
  Binder<float> declare(table);
  transformer_params(declare, resolve(config, io), io);
  return table;
}

template <class S>
struct Model<S>::Impl {
  ModelConfig config;
  ModelIo io;
  std::size_t max_batch;
  bool training;
  bool inspected;
  std::size_t n_threads;
  ParamTable table;
  Arena<S> memory;  // parameters and gradients, then the activations
  View<S, 1> flat_params, flat_grads;
  TransformerParams<S> params, grads;
  Arena<S> activations;
  TransformerCache<S> cache;
  std::size_t batch = 0, tokens = 0, queries = 0;  // what the cache is laid out for
  std::size_t whole_sites = 0;  // attention layers whose input is that of the last forward

  void lay_out(View<const S, 3> input, View<const S, 3> query) {
    assert(input.dims[0] <= max_batch && input.dims[1] <= io.tokens);
    assert(query.empty() == (io.queries == 0) && query.dims[1] <= io.queries);
    assert(static_cast<std::size_t>(threads()) <= n_threads);  // each has its scratch
    if (input.dims[0] == batch && input.dims[1] == tokens && query.dims[1] == queries) return;
    batch = input.dims[0];
    tokens = input.dims[1];
    queries = query.dims[1];
    activations.rewind(0);
    transformer_cache(cache, activations, config, io, batch, tokens, queries, n_threads, training,
                      inspected);
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
                 large_batch ? "a smaller train.batch (or more train.accumulate), eval.batch or "
                               "task.points needs less"
                             : "a smaller model.width, model.layers or fewer heads need less");
}

}  // namespace

template <class S>
Model<S>::Model(const ModelConfig& config, const ModelIo& io, std::size_t max_batch, bool training,
                bool inspected)
    : impl_(new Impl{resolve(config, io),
                     io,
                     max_batch,
                     training,
                     inspected,
                     static_cast<std::size_t>(threads()),
                     {},
                     {},
                     {},
                     {},
                     {},
                     {},
                     {},
                     {},
                     0,
                     0,
                     0,
                     0}) {
  Impl& m = *impl_;
  Binder<S> declare(m.table);
  transformer_params(declare, m.config, io);
  const std::size_t n = m.table.size();
  Arena<S> measure;
  (void)measure.take(n);
  if (training) (void)measure.take(n);
  Arena<S> measure_activations;
  transformer_cache(m.cache, measure_activations, m.config, io, max_batch, io.tokens, io.queries,
                    m.n_threads, training, inspected);
  check_memory<S>(measure.used(), measure_activations.used(), max_batch, training);
  m.memory = Arena<S>(measure.used());
  m.flat_params = m.memory.take(n);
  Binder<S> bind(m.flat_params.data);
  m.params = transformer_params(bind, m.config, io);
  if (training) {
    m.flat_grads = m.memory.take(n);
    Binder<S> bind_grads(m.flat_grads.data);
    m.grads = transformer_params(bind_grads, m.config, io);
  }
  m.activations = Arena<S>(measure_activations.used());
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
  return sizeof(S) * (impl_->memory.capacity() + impl_->activations.capacity());
}

template <class S>
View<const S, 3> Model<S>::forward(View<const S, 3> input, View<const S, 3> query) {
  impl_->lay_out(input, query);
  impl_->whole_sites = std::numeric_limits<std::size_t>::max();
  return transformer_forward(impl_->config, impl_->cache, input, query, impl_->params);
}

template <class S>
std::vector<AttentionRecord<S>> Model<S>::attention() const {
  return attention_records(impl_->config, impl_->cache, impl_->params);
}

template <class S>
std::vector<StreamRecord<S>> Model<S>::stream() const {
  return stream_records(impl_->config, impl_->cache);
}

namespace {

// A copy of `view` in `memory`.
template <class S, std::size_t N>
View<S, N> copy_of(const View<S, N>& view, std::vector<S>& memory) {
  memory.assign(view.data, view.data + view.size());
  return {memory.data(), view.dims};
}

// The layer's parameters without one head, the changed tensor in `memory`.
template <class S>
AttentionParams<S> without_head(const ModelConfig& c, const AttentionSizes& n, AttentionParams<S> p,
                                std::size_t copy, std::size_t head,
                                std::array<std::vector<S>, 2>& memory) {
  const std::size_t v = n.shape.value_size, column = (copy * n.shape.heads + head) * v;
  if (!p.mixers.weights.empty()) {
    p.mixers.weights = copy_of(p.mixers.weights, memory[0]);
    for (std::size_t to = 0; to < n.shape.value_heads; ++to) p.mixers.weights(copy, to, head) = S{};
  } else if (c.attention.value_map == HeadMap::kFull) {
    p.qkv = copy_of(p.qkv, memory[0]);
    const std::size_t row = n.queries + n.keys + column;
    std::fill_n(&p.qkv(row, std::size_t{0}), v * c.width, S{});
    if (!p.qkv_bias.empty()) {
      p.qkv_bias = copy_of(p.qkv_bias, memory[1]);
      std::fill_n(&p.qkv_bias(std::size_t{0}, row), v, S{});
    }
  } else {
    p.output = copy_of(p.output, memory[0]);
    for (std::size_t row = 0; row < c.width; ++row) std::fill_n(&p.output(row, column), v, S{});
  }
  return p;
}

}  // namespace

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
  return transformer_forward_from(m.config, m.cache, record.stack, record.layer, params);
}

template <class S>
void Model<S>::backward(View<const S, 3> input, View<const S, 3> doutput, View<const S, 3> query) {
  assert(impl_->training && input.dims[0] == impl_->batch && input.dims[1] == impl_->tokens &&
         query.dims[1] == impl_->queries);
  transformer_backward(impl_->config, impl_->grads, doutput, input, query, impl_->cache,
                       impl_->params);
}

template class Model<float>;
template class Model<double>;
template class Model<std::complex<double>>;

}  // namespace headroom
