#include "model/model.h"

#include <cassert>

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
  std::size_t n_threads;
  ParamTable table;
  Arena<S> memory;  // parameters and gradients, then the activations
  View<S, 1> flat_params, flat_grads;
  TransformerParams<S> params, grads;
  Arena<S> activations;
  TransformerCache<S> cache;
  std::size_t batch = 0, tokens = 0, queries = 0;  // what the cache is laid out for

  void lay_out(View<const S, 3> input, View<const S, 3> query) {
    assert(input.dims[0] <= max_batch && input.dims[1] <= io.tokens);
    assert(query.empty() == (io.queries == 0) && query.dims[1] <= io.queries);
    assert(static_cast<std::size_t>(threads()) <= n_threads);  // each has its scratch
    if (input.dims[0] == batch && input.dims[1] == tokens && query.dims[1] == queries) return;
    batch = input.dims[0];
    tokens = input.dims[1];
    queries = query.dims[1];
    activations.rewind(0);
    transformer_cache(cache, activations, config, io, batch, tokens, queries, n_threads, training);
  }
};

template <class S>
Model<S>::Model(const ModelConfig& config, const ModelIo& io, std::size_t max_batch, bool training)
    : impl_(new Impl{resolve(config, io),
                     io,
                     max_batch,
                     training,
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
                     0}) {
  Impl& m = *impl_;
  Binder<S> declare(m.table);
  transformer_params(declare, m.config, io);
  const std::size_t n = m.table.size();
  Arena<S> measure;
  (void)measure.take(n);
  if (training) (void)measure.take(n);
  m.memory = Arena<S>(measure.used());
  m.flat_params = m.memory.take(n);
  Binder<S> bind(m.flat_params.data);
  m.params = transformer_params(bind, m.config, io);
  if (training) {
    m.flat_grads = m.memory.take(n);
    Binder<S> bind_grads(m.flat_grads.data);
    m.grads = transformer_params(bind_grads, m.config, io);
  }
  Arena<S> measure_activations;
  transformer_cache(m.cache, measure_activations, m.config, io, max_batch, io.tokens, io.queries,
                    m.n_threads, training);
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
  return transformer_forward(impl_->config, impl_->cache, input, query, impl_->params);
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
